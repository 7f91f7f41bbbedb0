// The product's queue: every interleaving at its lock, and with its atomics up to four preemptions; each history exact.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "scenarios/queue.h"

namespace flare::sim {
namespace {

// proves: INV-01, INV-02
TEST(SimQueue, EveryInterleavingGivesALinearizableHistory) {
  for (const Scenario& scenario : queue_scenarios()) {
    Explorer explorer(scenario);
    Budget budget;
    budget.preemptions = scenario.options.atomic_points ? 4 : 1000;
    if (const char* wanted = std::getenv("FLARE_SIM_PREEMPTIONS")) budget.preemptions = std::atoi(wanted);
    ExplorerLimits limits;
    limits.remember_states = false;  // each history is judged, also one whose states were met
    const auto start = std::chrono::steady_clock::now();
    const Exploration all = explorer.enumerate(budget, limits);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-20s %9llu schedules, %u..%u steps, %u points, %.1f s\n", scenario.name.c_str(),
                static_cast<unsigned long long>(all.schedules), all.fewest_steps, all.most_steps, all.most_points,
                seconds);
    EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
    EXPECT_TRUE(all.complete);
  }
}

}  // namespace
}  // namespace flare::sim
