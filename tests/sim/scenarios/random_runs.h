// random_runs.h: for tests: random schedules and PCT of a scenario. The seed is printed; FLARE_SIM_SEED repeats a run.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <ctime>

#include "engine/explorer.h"
#include "support/number_from.h"

namespace flare::sim {

// How many schedules of each kind, unless FLARE_SIM_SCHEDULES says otherwise; how often a call fails where it may.
struct RandomRuns {
  const char* program;
  std::uint64_t schedules = 2000;
  double fault = 0.0;
};

// Explores, and says how fast: of one core, with the schedules that are executed twice.
inline Exploration explore_at_random(Explorer& explorer, ChoiceSource& source, const char* how) {
  const std::clock_t start = std::clock();  // of this process alone: the machine may be busy with others
  Exploration all = explorer.run(source);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%-34s %8llu %s schedules, %llu of them twice, %u..%u steps, %u threads, %.0f schedules/s of CPU\n",
              explorer.scenario().name.c_str(), static_cast<unsigned long long>(all.schedules), how,
              static_cast<unsigned long long>(all.repeated), all.fewest_steps, all.most_steps, all.most_threads,
              static_cast<double>(all.schedules + all.repeated) / seconds);
  EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
  EXPECT_GE(all.repeated, all.schedules / 20) << "5 % must be executed twice, with equal hashes";
  return all;
}

inline void run_random(const Scenario& scenario, const RandomRuns& runs) {
  const std::uint64_t seed = testing::number_from("FLARE_SIM_SEED", 1);  // ci/run.sh sets it from the commit
  const std::uint64_t schedules = testing::number_from("FLARE_SIM_SCHEDULES", runs.schedules);
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::printf("seed: FLARE_SIM_SEED=%llu FLARE_SIM_SCHEDULES=%llu %s --gtest_filter='%s.%s'\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(schedules), runs.program,
              test->test_suite_name(), test->name());
  Explorer explorer(scenario);
  Uniform uniform(seed, schedules, 0.1, 0.3, runs.fault);
  explore_at_random(explorer, uniform, "random");
  if (runs.fault > 0) return;
  Pct pct(seed, 3, schedules, 0.3);
  const Exploration ordered = explore_at_random(explorer, pct, "PCT");
  std::printf("%-34s a bug of depth 3 is missed with a chance of %.3f at most\n", scenario.name.c_str(),
              pct.miss_probability(ordered.most_threads));
}

}  // namespace flare::sim
