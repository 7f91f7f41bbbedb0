// The large scenarios under random schedules and PCT.
#include <gtest/gtest.h>

#include "scenarios/random_runs.h"
#include "scenarios/storm.h"
#include "support/strategy_name.h"

namespace flare::sim {
namespace {

class SimStorm : public ::testing::TestWithParam<ListenerStrategy> {};

TEST_P(SimStorm, AnyStopMeetsAnyClients) {
  for (const Scenario& one : storm_scenarios(GetParam())) run_random(one, {.program = "sim_storm"});
}

TEST_P(SimStorm, AfterTheFaultsEveryClientIsServed) {
  for (const Scenario& one : chaos_scenarios(GetParam())) run_random(one, {.program = "sim_storm", .fault = 0.03});
}

INSTANTIATE_TEST_SUITE_P(Strategy, SimStorm, ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared),
                         testing::name_of);

}  // namespace
}  // namespace flare::sim
