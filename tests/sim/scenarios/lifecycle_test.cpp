// Two workers, two connections: every schedule within a bound of preemptions, and how many there are.
#include <gtest/gtest.h>

#include "scenarios/bounded.h"

namespace flare::sim {
namespace {

class SimLifecycle : public ::testing::TestWithParam<Bound> {};

// proves: INV-04, INV-06, INV-07, INV-11, INV-13, INV-14, INV-15, INV-20, INV-22
TEST_P(SimLifecycle, EveryScheduleWithinTheBound) {
  explore_within(GetParam());
}

constexpr Bound kBounds[] = {
    {"lifecycle.per-worker.shutdown", 2, 227'375},
    {"lifecycle.per-worker.double-shutdown", 2, 1'328'209},
    {"lifecycle.per-worker.stop-before-first-poll", 2, 11'772},
    {"lifecycle.per-worker.drain", 2, 677'222},
    {"lifecycle.per-worker.drain-zero", 2, 227'375},
    {"lifecycle.per-worker.drain-stuck", 2, 3'704},
    {"lifecycle.per-worker.failed-start", 2, 49'214, 1},
    {"lifecycle.per-worker.cap", 2, 139'392},
    {"lifecycle.per-worker.emfile", 2, 398'623},
    {"lifecycle.per-worker.handoff", 1, 40'079},
    {"lifecycle.per-worker.push-meets-close", 2, 730'008},
    {"lifecycle.per-worker.crash", 2, 28'343},
    {"lifecycle.shared.shutdown", 2, 121'128},
    {"lifecycle.shared.double-shutdown", 2, 717'045},
    {"lifecycle.shared.stop-before-first-poll", 2, 15'213},
    {"lifecycle.shared.drain", 2, 304'158},
    {"lifecycle.shared.drain-zero", 2, 121'128},
    {"lifecycle.shared.drain-stuck", 2, 4'372},
    {"lifecycle.shared.failed-start", 2, 35'751, 1},
    {"lifecycle.shared.cap", 2, 387'188},
    {"lifecycle.shared.emfile", 2, 645'953},
    {"lifecycle.shared.handoff", 1, 32'686},
    {"lifecycle.shared.push-meets-close", 2, 660'782},
    {"lifecycle.shared.crash", 2, 118'269},
};

INSTANTIATE_TEST_SUITE_P(Scenarios, SimLifecycle, ::testing::ValuesIn(kBounds), bound_name);

}  // namespace
}  // namespace flare::sim
