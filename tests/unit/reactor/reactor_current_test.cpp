// is_current: which events of a batch still mean what they say.
#include <memory>

#include "reactor_fixture.h"

namespace flare::testing {
namespace {

// Mutant R11; field-bugs A01
// proves: C-REACTOR-06, INV-10
TEST_F(ReactorTest, ANumberAndASlotReusedInsideABatchGetNobodyElsesEvent) {
  SocketPair first;
  auto second = std::make_unique<SocketPair>();
  reactor.register_fd(first.a.get(), 1, INTEREST_READ);
  reactor.register_fd(second->a.get(), 2, INTEREST_READ);
  first.feed_a();
  second->feed_a();
  ASSERT_EQ(2, poll());
  // The handler of the first closes the second, and a newcomer gets its number.
  const int number = second->a.get();
  reactor.unregister(number);
  second.reset();
  SocketPair newcomer;
  ASSERT_EQ(number, newcomer.a.get());
  reactor.register_fd(number, 3, INTEREST_READ);
  EXPECT_TRUE(reactor.is_current(event_of(1)));
  EXPECT_FALSE(reactor.is_current(event_of(2)));
  EXPECT_FALSE(reactor.is_current(event_of(2), INTEREST_READ));
  newcomer.feed_a();
  ASSERT_EQ(2, poll());
  EXPECT_EQ((std::set<std::uint64_t>{1, 3}), tokens());
  EXPECT_TRUE(reactor.is_current(event_of(3), INTEREST_READ));
}

// The same, with the same number and the same token: only the registration tells them apart.
// proves: INV-10
TEST_F(ReactorTest, ARegistrationAgainUnderTheSameTokenIsAnotherOne) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  pair.feed_a();
  ASSERT_EQ(1, poll());
  reactor.unregister(pair.a.get());
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  EXPECT_FALSE(reactor.is_current(events[0]));
  ASSERT_EQ(1, poll());
  EXPECT_TRUE(reactor.is_current(events[0]));
}

// field-bugs A02
// proves: C-REACTOR-06, C-REACTOR-07, INV-10
TEST_F(ReactorTest, EachHalfIsAskedForApart) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ | INTEREST_WRITE);
  pair.feed_a();
  ASSERT_EQ(1, poll());
  const Event event = events[0];
  EXPECT_TRUE(event.is_readable() && event.is_writable());
  EXPECT_TRUE(reactor.is_current(event, INTEREST_READ) && reactor.is_current(event, INTEREST_WRITE));
  reactor.modify(pair.a.get(), INTEREST_WRITE);
  EXPECT_TRUE(reactor.is_current(event));
  EXPECT_FALSE(reactor.is_current(event, INTEREST_READ));
  EXPECT_TRUE(reactor.is_current(event, INTEREST_WRITE));
  reactor.modify(pair.a.get(), INTEREST_READ);
  EXPECT_TRUE(reactor.is_current(event, INTEREST_READ));
  EXPECT_FALSE(reactor.is_current(event, INTEREST_WRITE));
  // The read half closes it: the write half must not run.
  reactor.unregister(pair.a.get());
  EXPECT_FALSE(reactor.is_current(event) || reactor.is_current(event, INTEREST_READ));
  EXPECT_FALSE(reactor.is_current(event, INTEREST_WRITE));
}

// proves: C-REACTOR-07
TEST_F(ReactorTest, AnEventStaysCurrentAcrossAMove) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  pair.feed_a();
  reactor.wakeup();
  ASSERT_EQ(2, poll());
  Reactor moved(std::move(reactor));
  for (const Event& event : events) EXPECT_TRUE(moved.is_current(event)) << event.token();
  Reactor assigned;
  assigned = std::move(moved);
  for (const Event& event : events) EXPECT_TRUE(assigned.is_current(event, INTEREST_READ)) << event.token();
  assigned.unregister(pair.a.get());
  EXPECT_FALSE(assigned.is_current(event_of(1)));
}

// proves: C-REACTOR-07
TEST_F(ReactorTest, AnotherReactorsEventAndNobodysEventAreNotCurrent) {
  SocketPair pair;
  Reactor other;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  other.register_fd(pair.a.get(), 1, INTEREST_READ);
  pair.feed_a();
  reactor.wakeup();
  ASSERT_EQ(2, poll());
  for (const Event& event : events) {
    EXPECT_TRUE(reactor.is_current(event));
    EXPECT_FALSE(other.is_current(event));
    EXPECT_FALSE(other.is_current(event, INTEREST_READ));
  }
  EXPECT_FALSE(reactor.is_current(Event()));
  EXPECT_FALSE(reactor.is_current(Event(), INTEREST_READ));
  EXPECT_FALSE(reactor.is_current(Event(WAKEUP_TOKEN, 1, RegistrationId())));
}

// proves: C-REACTOR-07
TEST_F(ReactorTest, AWakeupIsCurrentAndIsARead) {
  reactor.wakeup();
  ASSERT_EQ(1, poll());
  EXPECT_TRUE(events[0].is_wakeup());
  EXPECT_TRUE(reactor.is_current(events[0]));
  EXPECT_TRUE(reactor.is_current(events[0], INTEREST_READ));
  EXPECT_FALSE(reactor.is_current(events[0], INTEREST_WRITE));
}

// field-bugs A03, A04: the first handler closes everybody else.
// proves: INV-10
TEST_F(ReactorTest, AMassCloseInsideABatchLeavesNoCurrentEvent) {
  std::vector<std::unique_ptr<SocketPair>> pairs;
  for (std::uint64_t i = 0; i < 64; ++i) {
    pairs.push_back(std::make_unique<SocketPair>());
    reactor.register_fd(pairs.back()->a.get(), i, INTEREST_READ);
    pairs.back()->feed_a();
  }
  ASSERT_EQ(64, poll());
  const std::uint64_t first = events[0].token();
  int dispatched = 0;
  for (const Event& event : events) {
    if (!reactor.is_current(event, INTEREST_READ)) continue;
    ++dispatched;
    for (std::uint64_t i = 0; i < 64; ++i) {
      if (i == first) continue;
      reactor.unregister(pairs[i]->a.get());
      pairs[i].reset();
    }
  }
  EXPECT_EQ(1, dispatched);
  EXPECT_EQ(1, reactor.registered_count());
}

}  // namespace
}  // namespace flare::testing
