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

// Registered, forgotten and closed, and a duplicate of it is ready: its watch fires without a registration.
struct Forgotten {
  SocketPair pair;
  UniqueFd duplicate;

  Forgotten(Reactor& reactor, std::uint64_t token) {
    reactor.register_fd(pair.a.get(), token, INTEREST_READ);
    duplicate.reset(::fcntl(pair.a.get(), F_DUPFD_CLOEXEC, 0));
    pair.feed_a();
    EXPECT_TRUE(reactor.forget(pair.a.get()));
    pair.a.reset();
  }
};

// As C-REACTOR-11, and no descriptor is needed for it: without one it would end every poll.
// proves: C-REACTOR-13, C-REACTOR-11, INV-18
TEST_F(ReactorTest, AForgottenWatchIsGoneAfterItFiredTwiceThoughNoDescriptorIsLeft) {
  SocketPair live;
  reactor.register_fd(live.a.get(), 2, INTEREST_READ);
  live.feed_a();
  const Forgotten gone(reactor, 1);
  faults::fail(Symbol::kEpollCreate1, 1, EMFILE, faults::kForEver);
  EXPECT_EQ(1, poll());
  EXPECT_EQ(1, poll());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(1, poll(0, 1)) << "nothing else takes the one place";
}

// A rebuild costs a call for each registration: one is enough.
// proves: C-REACTOR-13
TEST_F(ReactorTest, AfterAForgottenWatchFiredTwiceNoOtherOneIsLeft) {
  std::vector<SocketPair> others(50);
  for (const SocketPair& one : others) reactor.register_fd(one.a.get(), 9, INTEREST_READ);
  const Forgotten first(reactor, 1);
  EXPECT_EQ(0, poll());
  EXPECT_EQ(0, poll());
  const long before = faults::calls(Symbol::kEpollCtl);
  for (std::uint64_t token = 10; token < 15; ++token) {
    const Forgotten next(reactor, token);
    EXPECT_EQ(0, poll());
    EXPECT_EQ(0, poll());
  }
  EXPECT_EQ(before + 2 * 5, faults::calls(Symbol::kEpollCtl)) << "each is put in and taken out";
}

// Without a descriptor for the day when it is needed no watch is left.
// proves: C-REACTOR-13
TEST_F(ReactorTest, WhereNoSpareCanBeHadForgettingIsACall) {
  faults::fail(Symbol::kEpollCreate1, 1, EMFILE, faults::kForEver);
  const Forgotten gone(reactor, 1);
  SocketPair live;
  reactor.register_fd(live.a.get(), 2, INTEREST_READ);
  live.feed_a();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(1, poll(0, 1));
}

// A process that was forked, say, and has not closed what it got.
// proves: C-REACTOR-13, C-REACTOR-11
TEST_F(ReactorTest, WhatIsForgottenReachesNobodyThoughADuplicateLivesOn) {
  const Forgotten gone(reactor, 1);
  EXPECT_EQ(0, poll(-1));
  EXPECT_EQ(0, poll(-1));
  SocketPair live;
  reactor.register_fd(live.a.get(), 2, INTEREST_READ);
  live.feed_a();
  EXPECT_EQ(1, poll(-1));
  EXPECT_EQ(2U, events[0].token());
}

}  // namespace
}  // namespace flare::testing
