// The large scenarios under random schedules and PCT. The seed is printed; FLARE_SIM_SEED repeats a run.
#include <gtest/gtest.h>

#include <cstdio>

#include "scenarios/storm.h"
#include "support/number_from.h"
#include "support/strategy_name.h"

namespace flare::sim {
namespace {

using testing::number_from;

void run_random(const std::vector<Scenario>& scenarios, double fault) {
  const std::uint64_t seed = number_from("FLARE_SIM_SEED", 1);
  const std::uint64_t schedules = number_from("FLARE_SIM_SCHEDULES", 2000);
  std::printf("FLARE_SIM_SEED=%llu FLARE_SIM_SCHEDULES=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(schedules));
  for (const Scenario& scenario : scenarios) {
    Explorer explorer(scenario);
    Uniform uniform(seed, schedules, 0.1, 0.3, fault);
    const Exploration all = explorer.run(uniform);
    std::printf("%-34s %8llu random schedules, %u..%u steps, %u threads\n", scenario.name.c_str(),
                static_cast<unsigned long long>(all.schedules), all.fewest_steps, all.most_steps, all.most_threads);
    EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
    if (fault > 0) continue;
    Pct pct(seed, 3, schedules, 0.3);
    const Exploration ordered = explorer.run(pct);
    std::printf("%-34s %8llu PCT schedules of depth 3, a bug of that depth missed with %.3f at most\n",
                scenario.name.c_str(), static_cast<unsigned long long>(ordered.schedules),
                pct.miss_probability(ordered.most_threads));
    EXPECT_TRUE(ordered.ok()) << explorer.report(ordered.failure);
  }
}

class SimStorm : public ::testing::TestWithParam<ListenerStrategy> {};

TEST_P(SimStorm, AnyStopMeetsAnyClients) {
  run_random(storm_scenarios(GetParam()), 0.0);
}

TEST_P(SimStorm, AfterTheFaultsEveryClientIsServed) {
  run_random(chaos_scenarios(GetParam()), 0.03);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SimStorm, ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared),
                         testing::name_of);

}  // namespace
}  // namespace flare::sim
