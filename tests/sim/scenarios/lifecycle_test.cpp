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
    {"lifecycle.per-worker.shutdown", 2, 210'509},
    {"lifecycle.per-worker.double-shutdown", 2, 1'291'654},
    {"lifecycle.per-worker.stop-before-first-poll", 2, 11'826},
    {"lifecycle.per-worker.drain", 2, 488'871},
    {"lifecycle.per-worker.drain-zero", 2, 210'509},
    {"lifecycle.per-worker.drain-stuck", 2, 3'329},
    {"lifecycle.per-worker.failed-start", 2, 61'661, 1},
    {"lifecycle.per-worker.cap", 2, 555'675},
    {"lifecycle.per-worker.emfile", 2, 344'796},
    {"lifecycle.per-worker.handoff", 1, 33'231},
    {"lifecycle.per-worker.push-meets-close", 2, 581'789},
    {"lifecycle.per-worker.crash", 2, 26'889},
    {"lifecycle.per-worker.deferred-drain", 2, 299'388},
    {"lifecycle.per-worker.deferred-short-drain", 1, 2'505},
    {"lifecycle.per-worker.deferred-cap", 2, 178'067},
    {"lifecycle.per-worker.deferred-handoff", 2, 355'250},
    {"lifecycle.shared.shutdown", 2, 111'213},
    {"lifecycle.shared.double-shutdown", 2, 682'947},
    {"lifecycle.shared.stop-before-first-poll", 2, 15'299},
    {"lifecycle.shared.drain", 2, 234'445},
    {"lifecycle.shared.drain-zero", 2, 111'213},
    {"lifecycle.shared.drain-stuck", 2, 4'005},
    {"lifecycle.shared.failed-start", 2, 58'178, 1},
    {"lifecycle.shared.cap", 2, 292'267},
    {"lifecycle.shared.emfile", 2, 552'499},
    {"lifecycle.shared.handoff", 1, 27'485},
    {"lifecycle.shared.push-meets-close", 2, 510'540},
    {"lifecycle.shared.handed-over-twice", 1, 282'218},
    {"lifecycle.shared.crash", 2, 120'940},
    {"lifecycle.shared.deferred-drain", 2, 246'534},
    {"lifecycle.shared.deferred-short-drain", 1, 2'871},
    {"lifecycle.shared.deferred-cap", 2, 211'957},
    {"lifecycle.shared.deferred-handoff", 2, 576'844},
};

INSTANTIATE_TEST_SUITE_P(Scenarios, SimLifecycle, ::testing::ValuesIn(kBounds), bound_name);

}  // namespace
}  // namespace flare::sim
