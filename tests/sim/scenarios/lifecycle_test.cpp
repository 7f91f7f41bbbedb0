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
    {"lifecycle.per-worker.shutdown", 2, 209'582},
    {"lifecycle.per-worker.double-shutdown", 2, 1'281'964},
    {"lifecycle.per-worker.stop-before-first-poll", 2, 11'674},
    {"lifecycle.per-worker.drain", 2, 481'705},
    {"lifecycle.per-worker.drain-zero", 2, 209'582},
    {"lifecycle.per-worker.drain-stuck", 2, 3'203},
    {"lifecycle.per-worker.failed-start", 2, 48'762, 1},
    {"lifecycle.per-worker.cap", 2, 106'355},
    {"lifecycle.per-worker.emfile", 2, 332'276},
    {"lifecycle.per-worker.handoff", 1, 36'833},
    {"lifecycle.per-worker.push-meets-close", 2, 560'539},
    {"lifecycle.per-worker.crash", 2, 25'719},
    {"lifecycle.shared.shutdown", 2, 109'800},
    {"lifecycle.shared.double-shutdown", 2, 694'175},
    {"lifecycle.shared.stop-before-first-poll", 2, 15'055},
    {"lifecycle.shared.drain", 2, 235'899},
    {"lifecycle.shared.drain-zero", 2, 109'800},
    {"lifecycle.shared.drain-stuck", 2, 3'881},
    {"lifecycle.shared.failed-start", 2, 35'360, 1},
    {"lifecycle.shared.cap", 2, 290'349},
    {"lifecycle.shared.emfile", 2, 539'669},
    {"lifecycle.shared.handoff", 1, 30'265},
    {"lifecycle.shared.push-meets-close", 2, 495'898},
    {"lifecycle.shared.crash", 2, 118'844},
};

INSTANTIATE_TEST_SUITE_P(Scenarios, SimLifecycle, ::testing::ValuesIn(kBounds), bound_name);

}  // namespace
}  // namespace flare::sim
