// random_runs.h: for tests: random schedules and PCT of a scenario. The seed is printed; FLARE_SIM_SEED repeats a run.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "engine/explorer.h"
#include "support/number_from.h"

namespace flare::sim {

// How many schedules of each kind, unless FLARE_SIM_SCHEDULES says otherwise; how often a call fails where it may.
struct RandomRuns {
  std::uint64_t schedules = 2000;
  double fault = 0.0;
};

inline void run_random(const Scenario& scenario, const RandomRuns& runs) {
  const std::uint64_t seed = testing::number_from("FLARE_SIM_SEED", 1);
  const std::uint64_t schedules = testing::number_from("FLARE_SIM_SCHEDULES", runs.schedules);
  std::printf("FLARE_SIM_SEED=%llu FLARE_SIM_SCHEDULES=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(schedules));
  Explorer explorer(scenario);
  Uniform uniform(seed, schedules, 0.1, 0.3, runs.fault);
  const Exploration all = explorer.run(uniform);
  std::printf("%-34s %8llu random schedules, %u..%u steps, %u threads\n", scenario.name.c_str(),
              static_cast<unsigned long long>(all.schedules), all.fewest_steps, all.most_steps, all.most_threads);
  EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
  if (runs.fault > 0) return;
  Pct pct(seed, 3, schedules, 0.3);
  const Exploration ordered = explorer.run(pct);
  std::printf("%-34s %8llu PCT schedules of depth 3, a bug of that depth missed with %.3f at most\n",
              scenario.name.c_str(), static_cast<unsigned long long>(ordered.schedules),
              pct.miss_probability(ordered.most_threads));
  EXPECT_TRUE(ordered.ok()) << explorer.report(ordered.failure);
}

}  // namespace flare::sim
