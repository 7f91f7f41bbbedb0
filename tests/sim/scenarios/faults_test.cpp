// Every cell of the fault matrix is executed, and none costs more than what it failed.
#include <gtest/gtest.h>

#include <cstdio>

#include "engine/arena.h"
#include "scenarios/faults.h"
#include "support/strategy_name.h"

namespace flare::sim {
namespace {

class SimFaults : public ::testing::TestWithParam<ListenerStrategy> {};

TEST_P(SimFaults, EveryCallGivesEveryErrorAtTheFirstTheSecondAndEveryThirdTime) {
  Explorer explorer(fault_scenario(GetParam()));
  FaultSurvey survey;
  const Exploration calm = explorer.run(survey);
  ASSERT_TRUE(calm.ok()) << explorer.report(calm.failure);
  int cells = 0;
  for (const FaultCall& call : survey.calls()) {
    EXPECT_GE(call.seen, 3) << call.call.text() << ": too few calls for every pattern";
    for (std::uint32_t option = 1; option < call.options; ++option) {
      for (const FaultPattern pattern : {FaultPattern::kFirst, FaultPattern::kSecond, FaultPattern::kEveryThird}) {
        FaultPlan plan(call.call, option, pattern);
        const Exploration one = explorer.run(plan);
        EXPECT_TRUE(one.ok()) << call.call.text() << " error " << option << " pattern " << static_cast<int>(pattern)
                              << "\n"
                              << explorer.report(one.failure);
        EXPECT_GT(plan.injected(), 0) << call.call.text() << ": the cell was not executed";
        ++cells;
      }
    }
  }
  std::printf("%zu calls, %d cells\n", survey.calls().size(), cells);
  EXPECT_GE(survey.calls().size(), 18U);
}

TEST_P(SimFaults, EveryAllocationOfTheProductFailsOnce) {
  std::uint64_t nth = 1;
  for (;; ++nth) {
    Explorer explorer(memory_scenario(GetParam(), nth));
    Replay calm(ChoiceString{});
    const Exploration one = explorer.run(calm);
    EXPECT_TRUE(one.ok()) << "allocation " << nth << "\n" << explorer.report(one.failure);
    if (!one.ok() || !arena::was_failed()) break;
  }
  std::printf("%llu allocations failed, each once\n", static_cast<unsigned long long>(nth - 1));
  EXPECT_GE(nth, 100U);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SimFaults,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), testing::name_of);

}  // namespace
}  // namespace flare::sim
