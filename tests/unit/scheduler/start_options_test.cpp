// What start accepts and refuses, and where strategy and policy come from.
#include <cerrno>
#include <iterator>

#include "flare/base/network_error.h"
#include "harness.h"

namespace flare::testing {
namespace {

// The text of the refusal; empty when it started.
std::string refusal(int workers, const SchedulerOptions& options) {
  try {
    start_any(echo(), workers, options).shutdown();
    return {};
  } catch (const NetworkError& error) {
    EXPECT_EQ(error.code().value(), EINVAL);
    return error.what();
  }
}

bool names(const std::string& text, const std::string& option, const std::string& value, const std::string& expected) {
  return text.find(option) != std::string::npos && text.find(value) != std::string::npos &&
         text.find("expected " + expected) != std::string::npos;
}

// proves: C-START-01, INV-12
TEST(SchedulerStart, RefusesABadNumberOfWorkersAndNamesIt) {
  const Ledger ledger;
  for (const int workers : {0, -1, 257, -2147483647, 2147483647}) {
    const std::string text = refusal(workers, {});
    EXPECT_TRUE(names(text, "num_workers", std::to_string(workers), "1..256")) << text;
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-START-01
TEST(SchedulerStart, AcceptsOneAnd256Workers) {
  const Ledger ledger;
  for (const int workers : {1, 256}) {
    auto scheduler = start_any(echo(), workers, with(ListenerStrategy::kShared));
    EXPECT_EQ(scheduler.worker_count(), workers);
    EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
    const auto reports = scheduler.drain(5000);
    EXPECT_EQ(reports.size(), static_cast<std::size_t>(workers));
    expect_sound(reports);
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// field-bugs C10
// proves: C-START-02
TEST(SchedulerStart, RefusesEveryBadOptionAndNamesItsValue) {
  const Ledger ledger;
  struct Case {
    const char* option;
    const char* value;
    const char* expected;
    void (*set)(SchedulerOptions&);
  };
  const Case cases[] = {
      {"max_connections", "-1", "0", [](SchedulerOptions& o) { o.serving.max_connections = -1; }},
      {"max_connections", "1000001", "0", [](SchedulerOptions& o) { o.serving.max_connections = 1000001; }},
      {"accept_budget", "0", "1..65536", [](SchedulerOptions& o) { o.serving.accept_budget = 0; }},
      {"accept_budget", "65537", "1..65536", [](SchedulerOptions& o) { o.serving.accept_budget = 65537; }},
      {"max_events", "0", "1..65536", [](SchedulerOptions& o) { o.serving.max_events = 0; }},
      {"max_events", "65537", "1..65536", [](SchedulerOptions& o) { o.serving.max_events = 65537; }},
      {"backlog", "0", "1", [](SchedulerOptions& o) { o.listener.backlog = 0; }},
      {"backlog", "-7", "1", [](SchedulerOptions& o) { o.listener.backlog = -7; }},
      {"defer_accept_s", "-3", "0", [](SchedulerOptions& o) { o.listener.defer_accept_s = -3; }},
      {"capacity", "-5", "0", [](SchedulerOptions& o) { o.policy.emplace().capacity = -5; }},
      {"capacity", "1048577", "0..1048576", [](SchedulerOptions& o) { o.policy.emplace().capacity = 1048577; }},
  };
  for (const Case& one : cases) {
    SchedulerOptions options;
    one.set(options);
    const std::string text = refusal(2, options);
    EXPECT_TRUE(names(text, one.option, one.value, one.expected)) << one.option << ": " << text;
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// Of several bad ones the first is named, in the order in which they stand in their structs.
// proves: C-START-02
TEST(SchedulerStart, NamesTheFirstOfSeveralBadOptions) {
  SchedulerOptions options;
  options.serving.max_connections = options.serving.accept_budget = options.serving.max_events = -1;
  options.listener.backlog = options.listener.defer_accept_s = -1;
  int* const in_turn[] = {&options.serving.max_connections, &options.serving.accept_budget, &options.serving.max_events,
                          &options.listener.backlog, &options.listener.defer_accept_s};
  const char* const named[] = {"max_connections", "accept_budget", "max_events", "backlog", "defer_accept_s"};
  for (std::size_t i = 0; i < std::size(named); ++i) {
    EXPECT_NE(refusal(2, options).find(named[i]), std::string::npos) << named[i] << ", got: " << refusal(2, options);
    *in_turn[i] = 1;
  }
}

TEST(SchedulerStart, AcceptsTheBoundsOfEveryOption) {
  SchedulerOptions least;
  least.serving.accept_budget = 1;
  least.serving.max_events = 1;
  least.listener.backlog = 1;
  EXPECT_EQ(refusal(1, least), "");
  SchedulerOptions most;
  most.serving.max_connections = 1'000'000;
  most.serving.accept_budget = 65536;
  most.serving.max_events = 65536;
  most.listener.backlog = 2147483647;
  most.serving.poll_cap = std::chrono::milliseconds(-1);
  most.policy = HandoffPolicy(true, 1 << 20, 2147483647);
  EXPECT_EQ(refusal(1, most), "");
}

// proves: C-START-03
TEST(SchedulerStart, ListenersArePerWorkerUnlessTheEnvironmentSaysShared) {
  const std::pair<const char*, const char*> cases[] = {
      {nullptr, "per-worker"}, {"", "per-worker"}, {"1", "per-worker"}, {"0", "shared"}};
  for (const auto& [value, expected] : cases) {
    const ScopedEnvironment environment("FLARE_REUSEPORT_WORKERS", value);
    const Lines lines;
    SchedulerOptions options = with(ListenerStrategy::kFromEnvironment, &lines);
    auto scheduler = start_any(echo(), 2, options);
    EXPECT_EQ(scheduler.strategy_name(), expected) << (value == nullptr ? "unset" : value);
    EXPECT_EQ(lines.text(), "");
    EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
  }
}

// proves: C-START-03
TEST(SchedulerStart, AValueOfReuseportWorkersThatIsNotUnderstoodIsReportedAndIgnored) {
  for (const char* value : {"off", "2", " 0", "00", "yes"}) {
    const ScopedEnvironment environment("FLARE_REUSEPORT_WORKERS", value);
    const Lines lines;
    auto scheduler = start_any(echo(), 1, with(ListenerStrategy::kFromEnvironment, &lines));
    EXPECT_EQ(scheduler.strategy_name(), "per-worker");
    EXPECT_TRUE(lines.has("FLARE_REUSEPORT_WORKERS is \"" + std::string(value) + "\"")) << lines.text();
    EXPECT_TRUE(lines.has("expected")) << lines.text();
  }
}

// proves: C-START-03
TEST(SchedulerStart, AnExplicitStrategyWinsOverTheEnvironmentSilently) {
  const Lines lines;
  {
    const ScopedEnvironment environment("FLARE_REUSEPORT_WORKERS", "0");
    EXPECT_EQ(start_any(echo(), 2, with(ListenerStrategy::kPerWorker, &lines)).strategy_name(), "per-worker");
  }
  const ScopedEnvironment environment("FLARE_REUSEPORT_WORKERS", "nonsense");
  EXPECT_EQ(start_any(echo(), 2, with(ListenerStrategy::kShared, &lines)).strategy_name(), "shared");
  EXPECT_EQ(lines.text(), "");
}

class OwnListeners : public LineFrontend {
 public:
  using LineFrontend::LineFrontend;
  bool requires_per_worker_listener() const { return true; }
};

// proves: C-START-03
TEST(SchedulerStart, AFrontendThatRequiresItsOwnListenersGetsThem) {
  const ScopedEnvironment environment("FLARE_REUSEPORT_WORKERS", "0");
  for (const auto strategy : {ListenerStrategy::kShared, ListenerStrategy::kFromEnvironment}) {
    auto scheduler = start_any(OwnListeners([](const std::string& line, int) { return line; }), 2, with(strategy));
    EXPECT_EQ(scheduler.strategy_name(), "per-worker");
    EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
  }
}

// proves: C-POLICY-02, C-POLICY-03
TEST(SchedulerStart, TheHandoffPolicyComesFromTheEnvironmentUnlessItIsGiven) {
  struct Case {
    const char* value;
    bool enabled;
    bool reported;
  };
  for (const Case& one :
       {Case{nullptr, false, false}, Case{"", false, false}, Case{"off", false, false}, Case{"on", true, false},
        Case{"1", true, false}, Case{"true", true, false}, Case{"maybe", false, true}, Case{"ON", false, true}}) {
    const ScopedEnvironment environment("FLARE_SOAK_WORKERS", one.value);
    const std::string value = one.value == nullptr ? "unset" : one.value;
    Lines lines;
    SchedulerOptions options;
    options.serving.error_sink = lines.sink();
    const HandoffPolicy read = start_any(echo(), 1, options).policy();
    EXPECT_EQ(read.enabled, one.enabled) << value;
    EXPECT_EQ(read.steal_threshold, one.enabled ? 1 : 4) << value;
    EXPECT_EQ(lines.has("FLARE_SOAK_WORKERS is \"" + value + "\""), one.reported) << value << ": " << lines.text();

    options.policy = HandoffPolicy(true, 7, 3);
    const std::string before = lines.text();
    const HandoffPolicy given = start_any(echo(), 1, options).policy();
    EXPECT_TRUE(given.enabled);
    EXPECT_EQ(given.capacity, 7);
    EXPECT_EQ(given.steal_threshold, 3);
    EXPECT_EQ(lines.text(), before) << "an explicit policy does not ask the environment";
  }
}

}  // namespace
}  // namespace flare::testing
