// The HTTP frontend in a server of two workers: every schedule within a bound, and random ones with short counts.
#include <gtest/gtest.h>

#include <string>

#include "scenarios/bounded.h"
#include "scenarios/http.h"
#include "scenarios/random_runs.h"
#include "support/strategy_name.h"

namespace flare::sim {
namespace {

class SimHttp : public ::testing::TestWithParam<Bound> {};

// Which worker gets a client is the kernel's pick, so some schedules have nothing to hand over.
void require_handoffs() {
  EXPECT_GT(handoff_tally().ended, 0U);
  EXPECT_GT(handoff_tally().handed_over, handoff_tally().ended / 3);
}

// proves: C-HTTP-01, C-HTTP-02, C-DRAIN-01, C-DRAIN-02, INV-04, INV-07, INV-21, INV-22
TEST_P(SimHttp, EveryScheduleWithinTheBound) {
  handoff_tally() = {};
  explore_within(GetParam());
  if (std::string(GetParam().scenario).ends_with(".handoff")) require_handoffs();
}

// Several connections on two workers have many orders: where the schedules would be too many, one pick of the kernel
// and one or two followers may differ from the usual ones.
constexpr Bound kBounds[] = {
    {"http.per-worker.handoff", 1, 6'356, 0, 1, 2},     {"http.per-worker.drain", 1, 17'136, 0, 1, 1},
    {"http.per-worker.drain-late", 1, 22'630, 0, 1, 2}, {"http.per-worker.drain-408", 1, 5'576},
    {"http.shared.handoff", 1, 9'199, 0, 1, 2},         {"http.shared.drain", 1, 20'188, 0, 1, 1},
    {"http.shared.drain-late", 1, 30'223, 0, 1, 2},     {"http.shared.drain-408", 1, 5'707},
};

INSTANTIATE_TEST_SUITE_P(Scenarios, SimHttp, ::testing::ValuesIn(kBounds), bound_name);

class SimHttpRandom : public ::testing::TestWithParam<ListenerStrategy> {};

// Any pick of the kernel, one byte read or sent where many could be, waits that end without an event.
// proves: C-HTTP-01, C-HTTP-02, C-DRAIN-01, C-DRAIN-02, INV-21
TEST_P(SimHttpRandom, AnswersAreWholeHoweverTheyAreCut) {
  handoff_tally() = {};
  for (const Scenario& one : http_scenarios(GetParam())) run_random(one, {.program = "sim_http", .schedules = 1000});
  require_handoffs();
}

INSTANTIATE_TEST_SUITE_P(Strategy, SimHttpRandom,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), testing::name_of);

}  // namespace
}  // namespace flare::sim
