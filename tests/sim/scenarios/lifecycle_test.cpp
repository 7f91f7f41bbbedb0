// Two workers, two connections, every schedule with two preemptions.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "scenarios/lifecycle.h"

namespace flare::sim {
namespace {

class SimLifecycle : public ::testing::TestWithParam<ListenerStrategy> {};

TEST_P(SimLifecycle, EveryScheduleWithTwoPreemptions) {
  for (const Scenario& scenario : lifecycle_scenarios(GetParam())) {
    const char* only = std::getenv("FLARE_SIM_ONLY");
    if (only != nullptr && scenario.name.find(only) == std::string::npos) continue;
    Explorer explorer(scenario);
    Budget budget;
    if (const char* k = std::getenv("FLARE_SIM_PREEMPTIONS")) budget.preemptions = std::atoi(k);
    const auto start = std::chrono::steady_clock::now();
    ExplorerLimits limits;
    limits.most_seconds = 20;
    if (const char* n = std::getenv("FLARE_SIM_SCHEDULES")) limits.most_schedules = std::strtoull(n, nullptr, 10);
    const Exploration all = explorer.enumerate(budget, limits);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf(
        "%-40s %9llu schedules%s %9llu pruned %9llu states %5u..%u steps %u points, %d shared, %d threads, %.1f s\n",
        scenario.name.c_str(), static_cast<unsigned long long>(all.schedules), all.complete ? "" : " (not all)",
        static_cast<unsigned long long>(all.pruned), static_cast<unsigned long long>(all.states), all.fewest_steps,
        all.most_steps, all.most_points, all.learned, all.most_threads, seconds);
    std::fflush(stdout);
    EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategy, SimLifecycle,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared),
                         [](const auto& one) {
                           return one.param == ListenerStrategy::kShared ? "Shared" : "PerWorker";
                         });

}  // namespace
}  // namespace flare::sim
