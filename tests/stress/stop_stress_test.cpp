// Start, load, drain, stop, again and again, with clients that never pause; and what a stop publishes.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "load.h"
#include "support/strategy_name.h"
#include "unit/scheduler/harness.h"

namespace flare::testing {
namespace {

constexpr int kWorkers = 4;
constexpr int kCycles = 24;
constexpr int kDrains = 8;  // each takes its grace

class StopStress : public ::testing::TestWithParam<ListenerStrategy> {};

// The clients do not know of the stops: they connect, ask and leave while the handoff moves what they opened. What was
// answered must be answered right; what was not must have ended.
// proves: C-STOP-01, C-DRAIN-01, INV-04, INV-07, INV-11, INV-12
TEST_P(StopStress, TheHandoffMeetsEveryKindOfStopAndEverythingAddsUp) {
  const std::uint64_t seed = random_seed("stress_runtime", "*StopStress.TheHandoff*");
  SchedulerOptions options = with(GetParam());
  options.policy = HandoffPolicy(true, 64, 1);
  auto server = start_any(echo(), kWorkers, options);
  const SocketAddress address = server.addresses().front();
  Load load(address, 3, seed);
  Dice dice(seed, 0);
  ShutdownReport sum;
  std::uint64_t answered = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const std::uint64_t before = load.counts().answered.load();
    const std::uint64_t wanted = 1 + dice.below(30);
    ASSERT_TRUE(wait_until([&] { return load.counts().answered.load() >= before + wanted; })) << "cycle " << cycle;
    const std::uint32_t kind = dice.below(4);
    std::vector<ShutdownReport> reports;
    if (kind == 0) {
      server.request_stop();
      server.wait();
    }
    if (kind == 1) {
      server.shutdown();
    } else {
      reports = server.drain(kind == 2 ? 0 : 60'000);
      expect_sound(reports);
      sum = total({sum, total(reports)});
    }
    EXPECT_FALSE(server.is_running());
    answered = load.counts().answered.load();
    server = start_on(address, echo(), kWorkers, options);
  }
  ASSERT_TRUE(wait_until([&] { return load.counts().answered.load() > answered; })) << "the last server serves nobody";
  EXPECT_EQ(0U, load.end().wrong.load());
  expect_sound(server.drain(60'000));
  std::printf("%llu answered, %llu refused, %llu ended, %lld moved, %lld cut\n",
              static_cast<unsigned long long>(load.counts().answered.load()),
              static_cast<unsigned long long>(load.counts().refused.load()),
              static_cast<unsigned long long>(load.counts().ended.load()), static_cast<long long>(sum.handed_out),
              static_cast<long long>(sum.cut));
  EXPECT_GT(sum.handed_out, 0);
}

// A frontend that reads what the control thread wrote before the stop, and leaves something that it reads after.
struct Published {
  int before_stop = 0;                  // plain: the stop cell orders it
  std::array<int, kWorkers> seen{};     // plain, one for each worker: the join orders them
  std::array<int, kWorkers> drained{};  // how many connections saw the drain
};

class WatchedConnection : public LineConnection {
 public:
  WatchedConnection(const LineHandler& handler, WorkerStats& stats, Published& published)
      : LineConnection(handler, stats), published_(published) {}
  Step on_drain(const Wire& wire) override {
    const auto worker = static_cast<std::size_t>(wire.worker);
    published_.seen[worker] = published_.before_stop;
    ++published_.drained[worker];
    return LineConnection::on_drain(wire);
  }

 private:
  Published& published_;
};

class WatchedFrontend {
 public:
  explicit WatchedFrontend(Published& published) : published_(&published) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    Watching protocol(context.stats(), *published_);
    context.serve(protocol);
    published_->seen[static_cast<std::size_t>(context.id())] = published_->before_stop;
  }

 private:
  class Watching : public Protocol {
   public:
    Watching(WorkerStats& stats, Published& published) : stats_(stats), published_(published) {}
    std::unique_ptr<Connection> open() override {
      return std::make_unique<WatchedConnection>(handler_, stats_, published_);
    }

   private:
    LineHandler handler_ = [](const std::string& line, int) { return line; };
    WorkerStats& stats_;
    Published& published_;
  };

  Published* published_;
};

// proves: C-STOP-01, C-DRAIN-01, INV-12, INV-14
TEST_P(StopStress, AWorkerThatSeesTheStopSeesWhatWasWrittenBeforeIt) {
  const std::uint64_t seed = random_seed("stress_runtime", "*StopStress.AWorker*");
  Dice dice(seed, 0);
  int drained = 0;
  for (int cycle = 1; cycle <= kDrains; ++cycle) {
    Published published;
    auto server = start_any(WatchedFrontend(published), kWorkers, with(GetParam()));
    std::vector<LineClient> clients;
    for (int i = 0; i < kWorkers; ++i) clients.emplace_back(server.addresses().front());
    for (LineClient& client : clients) EXPECT_EQ("x", client.ask("x"));
    dice.delay();
    published.before_stop = cycle;
    if (dice.one_in(2)) server.request_stop();
    dice.delay();
    expect_sound(server.drain(60'000));
    for (const int seen : published.seen) EXPECT_EQ(cycle, seen);
    for (const int count : published.drained) drained += count;
    for (LineClient& client : clients) EXPECT_NE(StreamEnd::kOpen, client.await_end());
  }
  EXPECT_EQ(kDrains * kWorkers, drained);
}

INSTANTIATE_TEST_SUITE_P(Strategy, StopStress,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
