// The large scenarios under random schedules and PCT. The seed is printed; FLARE_SIM_SEED repeats a run.
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

#include "scenarios/storm.h"
#include "support/number_from.h"
#include "support/strategy_name.h"

namespace flare::sim {
namespace {

using testing::number_from;

struct Run {
  std::uint64_t seed = number_from("FLARE_SIM_SEED", 1);  // ci/run.sh sets it from the commit
  std::uint64_t schedules = number_from("FLARE_SIM_SCHEDULES", 2000);
};

// Explores, and says how fast: of one core, with the schedules that are executed twice.
Exploration explore(Explorer& explorer, ChoiceSource& source, const char* how) {
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

void run_random(const std::vector<Scenario>& scenarios, double fault) {
  const Run run;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::printf("seed: FLARE_SIM_SEED=%llu FLARE_SIM_SCHEDULES=%llu sim_storm --gtest_filter='%s.%s'\n",
              static_cast<unsigned long long>(run.seed), static_cast<unsigned long long>(run.schedules),
              test->test_suite_name(), test->name());
  for (const Scenario& scenario : scenarios) {
    Explorer explorer(scenario);
    Uniform uniform(run.seed, run.schedules, 0.1, 0.3, fault);
    explore(explorer, uniform, "random");
    if (fault > 0) continue;
    Pct pct(run.seed, 3, run.schedules, 0.3);
    const Exploration ordered = explore(explorer, pct, "PCT");
    std::printf("%-34s a bug of depth 3 is missed with a chance of %.3f at most\n", scenario.name.c_str(),
                pct.miss_probability(ordered.most_threads));
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
