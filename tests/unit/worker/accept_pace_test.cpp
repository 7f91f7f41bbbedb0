// How many clients a pass takes of a worker's own listener before it leaves the rest to the poller.
#include "flare/worker/accept_pace.h"

#include <gtest/gtest.h>

namespace flare::testing {
namespace {

constexpr int kMost = 64;

// proves: C-ACCEPT-10
TEST(AcceptPace, ClientsThatComeOneByOneAreTakenOneByOne) {
  AcceptPace pace;
  for (std::uint64_t tick = 1; tick < 100; tick += 2) {
    EXPECT_EQ(pace.enough(), 1) << tick;
    pace.took_enough(tick, kMost);
  }
}

// proves: C-ACCEPT-10
TEST(AcceptPace, TwoInOneTickAreNoSignOfMore) {
  AcceptPace pace;
  for (int i = 0; i < 100; ++i) pace.took_enough(1, kMost);
  EXPECT_EQ(pace.enough(), 1);
}

// proves: C-ACCEPT-10
TEST(AcceptPace, ACrowdIsTakenInFewTicks) {
  AcceptPace pace;
  int taken = 0;
  std::uint64_t tick = 1;
  for (; taken < 1000; ++tick) {
    taken += pace.enough();
    pace.took_enough(tick, kMost);
    EXPECT_LE(pace.enough(), kMost);
  }
  EXPECT_EQ(pace.enough(), kMost);
  EXPECT_LE(tick, 25U);
}

// proves: C-ACCEPT-10
TEST(AcceptPace, IsThatOfTheLastCrowdAndFallsBackWhereNobodyCame) {
  AcceptPace pace;
  pace.found_end(20);
  EXPECT_EQ(pace.enough(), 19);
  pace.took_enough(1, kMost);
  EXPECT_EQ(pace.enough(), 19) << "not reported again: so many it was";
  pace.found_end(0);
  EXPECT_EQ(pace.enough(), 1);
  pace.found_end(1);
  EXPECT_EQ(pace.enough(), 1);
  pace.took_enough(10, kMost);
  pace.took_enough(11, kMost);
  EXPECT_EQ(pace.enough(), 1) << "reported again once: that may be chance";
  pace.took_enough(12, kMost);
  EXPECT_EQ(pace.enough(), 2);
  pace.found_end(1);
  pace.took_enough(13, kMost);
  EXPECT_EQ(pace.enough(), 1) << "its end was found: counted anew";
}

}  // namespace
}  // namespace flare::testing
