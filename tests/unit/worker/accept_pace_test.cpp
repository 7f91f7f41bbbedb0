// How many clients a pass takes of a worker's own listener before it leaves the rest to the poller.
#include "flare/worker/accept_pace.h"

#include <gtest/gtest.h>

namespace flare::testing {
namespace {

constexpr int kMost = 64;

// How many passes take so many clients that wait; most: of one pass.
int passes_of(AcceptPace& pace, int clients, int most = kMost) {
  int passes = 0;
  for (; clients > 0; ++passes) {
    if (pace.enough() > clients) {
      pace.found_end(clients);
      return passes + 1;
    }
    clients -= pace.enough();
    pace.took_enough(most);
    EXPECT_LE(pace.enough(), most);
  }
  return passes;
}

// proves: C-ACCEPT-10
TEST(AcceptPace, ClientsThatComeOneByOneAreSeldomAskedFor) {
  AcceptPace pace;
  int asked = 0;
  for (int i = 0; i < 900; ++i) {
    if (pace.enough() == 1) {
      pace.took_enough(kMost);
    } else {
      pace.found_end(1);
      ++asked;
    }
  }
  EXPECT_EQ(asked, 100);
}

// proves: C-ACCEPT-10
TEST(AcceptPace, ACrowdIsTakenInFewPasses) {
  AcceptPace pace;
  EXPECT_LE(passes_of(pace, 1000), 8 + 6 + 1000 / kMost);
  AcceptPace small;
  EXPECT_LE(passes_of(small, 1000, 4), 8 + 2 + 1000 / 4);
}

// proves: C-ACCEPT-10
TEST(AcceptPace, IsThatOfTheLastCrowdAndFallsBackWhereNobodyCame) {
  AcceptPace pace;
  pace.found_end(20);
  EXPECT_EQ(pace.enough(), 19);
  EXPECT_EQ(passes_of(pace, 20), 2);
  pace.found_end(0);
  EXPECT_EQ(pace.enough(), 1);
  pace.found_end(1);
  EXPECT_EQ(pace.enough(), 1);
}

}  // namespace
}  // namespace flare::testing
