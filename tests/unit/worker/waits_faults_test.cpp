// What a worker asks of the system's wait: how long, how often, and that an answer of nothing costs nothing.
#include <gtest/gtest.h>

#include <cerrno>
#include <climits>

#include "flare/kernel/system_kernel.h"
#include "hook_frontend.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

using faults::Symbol;
using std::chrono::milliseconds;

// Milliseconds are an int there. A wait for ever would miss the deadline, a wrapped one would spin.
// field-bugs A08
// proves: C-SERVE-05
TEST(Deadlines, OneThatIsFarAwayIsWaitedForInPieces) {
  for (const std::int64_t ms : {std::int64_t{INT_MAX} + 60'000, (std::int64_t{1} << 32) + 5, std::int64_t{1} << 40}) {
    const faults::Scope scope;
    Hooks hooks;
    std::atomic<int> opened{0};
    hooks.on_open = [&](const Wire& w) {
      return opened++ == 0 ? Step::keep(INTEREST_READ, w.now + milliseconds(ms)) : Step::keep(INTEREST_READ);
    };
    auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
    LineClient client(server.addresses().front());
    ASSERT_EQ(client.ask("x"), "x");
    ASSERT_TRUE(await_idle(server));
    EXPECT_EQ(faults::last_wait_timeout(), INT_MAX) << ms << " ms";
    EXPECT_EQ(LineClient(server.addresses().front()).ask("y"), "y");
  }
}

// A drain that nobody gave a deadline waits for its connection without one: no time limit at all.
// proves: INV-19
TEST(Deadlines, ADrainWithoutOneWaitsWithoutOne) {
  const faults::Scope scope;
  Hooks hooks;
  std::atomic<bool> told{false};
  hooks.on_drain = [](const Wire&) { return Step::keep(INTEREST_READ); };
  hooks.on_grace_over = [&](const Wire&) {
    told = true;
    return Step::keep(INTEREST_READ);
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient client(server.addresses().front());
  ASSERT_EQ(client.ask("x"), "x");
  server.request_stop();
  EXPECT_TRUE(wait_until([&] { return told && faults::last_wait_timeout() == -1; })) << faults::last_wait_timeout();
}

// A deadline that is set anew a hundred times, at any part of a millisecond: each time the worker sleeps once and
// wakes when it has come.
// field-bugs A09
// proves: INV-19
TEST(Deadlines, EachCostsOnePollAndIsNotEarly) {
  constexpr int kTimes = 100;
  const faults::Scope scope;
  Hooks hooks;
  MonoTime due{};  // the worker's
  std::atomic<int> fired{0};
  std::atomic<int> early{0};
  const auto again = [&](const Wire& w) {
    due = w.now + milliseconds(2) + std::chrono::microseconds(137 * (fired % 8));
    return Step::keep(0, due);
  };
  hooks.on_open = again;
  hooks.on_deadline = [&](const Wire& w) {
    early += w.now < due ? 1 : 0;
    return ++fired < kTimes ? again(w) : Step::close(CloseReason::kDeadline);
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  ASSERT_TRUE(await_idle(server));
  const long before = faults::calls(Symbol::kEpollWait);
  LineClient client(server.addresses().front());
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  ASSERT_TRUE(await_idle(server));
  EXPECT_EQ(fired, kTimes);
  EXPECT_EQ(early, 0);
  EXPECT_LE(faults::calls(Symbol::kEpollWait) - before, kTimes + 2);
}

// Some waits that found something say that there is nothing: what is level-triggered comes again.
// field-bugs A10
// proves: C-SERVE-03, INV-20
TEST(SilentWait, LosesNoConnectionAndNoStop) {
  for (const ListenerStrategy strategy : {ListenerStrategy::kPerWorker, ListenerStrategy::kShared}) {
    const faults::Scope scope;
    Hooks hooks;
    auto server = serve(hooks, 2, uncapped(strategy, HandoffPolicy(true, 64, 1)));
    std::vector<LineClient> clients;
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(await_idle(server));
      faults::fail(Symbol::kEpollSilent, 1 + i % 3, EINTR, 1 + i % 4);
      clients.emplace_back(server.addresses().front());
      ASSERT_EQ(clients.back().ask("x"), "x") << "client " << i;
    }
    EXPECT_GT(faults::injected(Symbol::kEpollSilent), 40);
    ASSERT_TRUE(await_idle(server));
    faults::fail(Symbol::kEpollSilent, 1, EINTR, 20);
    EXPECT_TRUE(adds_up(server.drain(60'000)));
  }
}

}  // namespace
}  // namespace flare::testing
