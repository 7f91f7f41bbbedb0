// Registrations that are forgotten, because their descriptor is closed next.
#include <fcntl.h>

#include "reactor_fixture.h"

namespace flare::testing {
namespace {

using faults::Symbol;

// proves: C-REACTOR-13, INV-10
TEST_F(ReactorTest, WhatIsForgottenAndClosedGivesItsNextOwnerNoEvent) {
  SocketPair pair;
  const int number = pair.a.get();
  reactor.register_fd(number, 1, INTEREST_READ);
  pair.feed_a();
  ASSERT_EQ(1, poll());
  const Event before = event_of(1);
  const long calls = faults::calls(Symbol::kEpollCtl);
  EXPECT_TRUE(reactor.forget(number));
  EXPECT_EQ(calls, faults::calls(Symbol::kEpollCtl));
  EXPECT_FALSE(reactor.is_registered(number));
  EXPECT_EQ(0, reactor.registered_count());
  EXPECT_FALSE(reactor.is_current(before));
  pair.a.reset();
  SocketPair next;
  ASSERT_EQ(number, next.a.get());
  reactor.register_fd(number, 2, INTEREST_WRITE);
  EXPECT_FALSE(reactor.is_current(before)) << "the number and the slot are the same, the registration is not";
  ASSERT_EQ(1, poll());
  EXPECT_EQ(2U, events[0].token());
}

// proves: C-REACTOR-13
TEST_F(ReactorTest, ForgetSaysWhetherTheNumberWasRegistered) {
  SocketPair pair;
  EXPECT_FALSE(reactor.forget(-1));
  EXPECT_FALSE(reactor.forget(pair.a.get()));
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  EXPECT_TRUE(reactor.forget(pair.a.get()));
  EXPECT_FALSE(reactor.forget(pair.a.get()));
}

// A process that was forked, say, and has not closed what it got.
// proves: C-REACTOR-13, C-REACTOR-11
TEST_F(ReactorTest, WhatIsForgottenReachesNobodyThoughADuplicateLivesOn) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  const UniqueFd duplicate(::fcntl(pair.a.get(), F_DUPFD_CLOEXEC, 0));
  pair.feed_a();
  EXPECT_TRUE(reactor.forget(pair.a.get()));
  pair.a.reset();
  const long rebuilds = faults::calls(Symbol::kEpollCreate1);
  EXPECT_EQ(0, poll(-1));
  EXPECT_EQ(0, poll(-1));
  EXPECT_EQ(rebuilds + 1, faults::calls(Symbol::kEpollCreate1)) << "the set is made anew, without the watch";
  SocketPair live;
  reactor.register_fd(live.a.get(), 2, INTEREST_READ);
  live.feed_a();
  EXPECT_EQ(1, poll(-1));
  EXPECT_EQ(2U, events[0].token());
}

}  // namespace
}  // namespace flare::testing
