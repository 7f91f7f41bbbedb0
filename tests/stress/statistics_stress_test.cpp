// Statistics are read while the workers serve, hand over and stop.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "load.h"
#include "support/strategy_name.h"
#include "unit/scheduler/harness.h"

namespace flare::testing {
namespace {

constexpr int kWorkers = 4;
constexpr std::uint64_t kAnswers = 1500;

SchedulerOptions handing_over(ListenerStrategy strategy) {
  SchedulerOptions options = with(strategy);
  options.policy = HandoffPolicy(true, 64, 1);
  return options;
}

// No counter of a worker ever falls, and what they say of the past fits together at every moment.
struct Watcher {
  std::vector<WorkerSnapshot> before;
  std::uint64_t looks = 0;
  std::uint64_t wrong = 0;

  void look(const std::vector<WorkerSnapshot>& now) {
    ++looks;
    if (before.empty()) before.resize(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      const WorkerSnapshot& a = before[i];
      const WorkerSnapshot& b = now[i];
      const bool fell = b.accepted < a.accepted || b.received < a.received || b.handed_out < a.handed_out ||
                        b.finished < a.finished || b.requests < a.requests || b.ticks < a.ticks ||
                        b.wakes_sent < a.wakes_sent || b.cut < a.cut || b.refused < a.refused;
      if (fell || b.crashed) ++wrong;
    }
    before = now;
  }
};

class StatisticsStress : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-SERVE-09, INV-04, INV-22
TEST_P(StatisticsStress, NoCounterFallsWhileItIsReadAndTheLastOnesAreTheReports) {
  const std::uint64_t seed = random_seed("stress_runtime", "*StatisticsStress.NoCounter*");
  auto server = start_any(echo(), kWorkers, handing_over(GetParam()));
  Watcher watcher;
  {
    Load load(server.addresses().front(), 3, seed);
    const bool enough = wait_until(
        [&] {
          for (int i = 0; i < 50; ++i) watcher.look(server.stats());
          return load.counts().answered.load() >= kAnswers;
        },
        std::chrono::seconds(60));
    EXPECT_TRUE(enough);
    const LoadCounts& counts = load.end();
    EXPECT_EQ(0U, counts.wrong.load());
    EXPECT_EQ(0U, counts.ended.load());
    EXPECT_EQ(0U, counts.refused.load());
  }
  // The drain goes on while another thread still reads.
  std::vector<ShutdownReport> reports;
  std::atomic<bool> over{false};
  run_together(2, [&](int thread) {
    if (thread == 0) {
      reports = server.drain(60'000);
      over.store(true);
      return;
    }
    while (!over.load()) watcher.look(server.stats());
    watcher.look(server.stats());
  });
  expect_sound(reports);
  EXPECT_EQ(0U, watcher.wrong);
  EXPECT_GT(watcher.looks, 100U);
  ASSERT_EQ(reports.size(), watcher.before.size());
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(static_cast<std::uint64_t>(reports[i].accepted), watcher.before[i].accepted);
    EXPECT_EQ(static_cast<std::uint64_t>(reports[i].received), watcher.before[i].received);
    EXPECT_EQ(static_cast<std::uint64_t>(reports[i].handed_out), watcher.before[i].handed_out);
    EXPECT_EQ(static_cast<std::uint64_t>(reports[i].requests), watcher.before[i].requests);
    moved += reports[i].handed_out;
  }
  EXPECT_GT(moved, 0);
}

INSTANTIATE_TEST_SUITE_P(Strategy, StatisticsStress,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
