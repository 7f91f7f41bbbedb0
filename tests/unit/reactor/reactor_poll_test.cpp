// Polling: output, limits, time, what an event says.
#include <unistd.h>

#include <chrono>
#include <limits>

#include "reactor_fixture.h"

namespace flare::testing {
namespace {

using faults::Symbol;

// Mutants R02, R03; field-bugs A11
// proves: C-REACTOR-02
TEST_F(ReactorTest, PollClearsItsOutputAlsoWhenItThrows) {
  for (const int bad : {0, -1, std::numeric_limits<int>::min()}) {
    events.assign(3, Event(1, 1, {}));
    std::string what;
    EXPECT_EQ(EINVAL, error_of([&] { poll(0, bad); }, &what));
    EXPECT_NE(std::string::npos, what.find("max_events " + std::to_string(bad))) << what;
    EXPECT_TRUE(events.empty());
  }
  events.assign(3, Event(1, 1, {}));
  faults::fail(Symbol::kEpollWait, 1, EBADF);
  EXPECT_EQ(EBADF, error_of([&] { poll(); }));
  EXPECT_TRUE(events.empty());
  events.assign(3, Event(1, 1, {}));
  EXPECT_EQ(0, poll());
  EXPECT_TRUE(events.empty());
}

// Mutant R01; field-bugs A15
// proves: C-REACTOR-03, INV-18
TEST_F(ReactorTest, AnInterruptedWaitGivesNothingAndIsNoFailure) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  pair.feed_a();
  events.assign(3, Event(1, 1, {}));
  faults::fail(Symbol::kEpollWait, 1, EINTR);
  EXPECT_EQ(0, poll(-1));
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(1, poll(-1));
}

// Mutant R03; field-bugs A11
// proves: C-REACTOR-02
TEST_F(ReactorTest, GivesAtMostMaxEventsAndStarvesNobody) {
  std::vector<SocketPair> pairs(40);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    reactor.register_fd(pairs[i].a.get(), i, INTEREST_READ);
    pairs[i].feed_a();
  }
  for (const int max : {1, 8, 40}) {
    std::set<std::uint64_t> seen;
    for (int round = 0; round < 40 / max; ++round) {
      ASSERT_EQ(max, poll(0, max));
      ASSERT_EQ(static_cast<std::size_t>(max), events.size());
      seen.merge(tokens());
    }
    EXPECT_EQ(40U, seen.size());
  }
  EXPECT_EQ(40, poll(0, std::numeric_limits<int>::max()));
}

// proves: C-REACTOR-03
TEST_F(ReactorTest, IsLevelTriggered) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  pair.feed_a("abc");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(1, poll());
    char byte = 0;
    EXPECT_EQ(1, ::recv(pair.a.get(), &byte, 1, 0));
  }
  EXPECT_EQ(0, poll());
}

// Mutant R13; field-bugs A08. Lower bounds only: nothing here fails on a slow machine.
// proves: C-REACTOR-03
TEST_F(ReactorTest, WaitsAsLongAsItIsTold) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(0, poll(0));
  EXPECT_EQ(0, poll(20));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
  for (const int for_ever : {-1, -2, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    // Nothing is ready: only the wake, which is sent once the poll has begun, ends it.
    const long calls = faults::calls(Symbol::kEpollWait);
    Thread waker = Thread::start([&] {
                     wait_until([&] { return faults::calls(Symbol::kEpollWait) > calls; });
                     reactor.wakeup();
                   }).value();
    EXPECT_EQ(1, poll(for_ever)) << for_ever;
    EXPECT_TRUE(events[0].is_wakeup());
    EXPECT_EQ(calls + 1, faults::calls(Symbol::kEpollWait));
    waker.join();
  }
}

TEST_F(ReactorTest, AnEventSaysWhatHappened) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ | INTEREST_WRITE);
  ASSERT_EQ(1, poll());
  EXPECT_TRUE(events[0].is_writable());
  EXPECT_FALSE(events[0].is_readable() || events[0].is_error() || events[0].is_hup() || events[0].is_wakeup());
  ASSERT_EQ(0, ::shutdown(pair.b.get(), SHUT_WR));
  ASSERT_EQ(1, poll());
  EXPECT_TRUE(events[0].is_readable());  // the end of the stream
  EXPECT_TRUE(events[0].is_hup());
  EXPECT_TRUE(events[0].is_writable());
  EXPECT_FALSE(events[0].is_error());
}

// field-bugs A07: an end of stream that was seen does not spin once read interest is dropped.
TEST_F(ReactorTest, AHalfClosedPeerIsQuietWithoutReadInterest) {
  SocketPair pair;
  ASSERT_EQ(0, ::shutdown(pair.b.get(), SHUT_WR));
  std::string fill(1 << 20, 'x');
  while (::send(pair.a.get(), fill.data(), fill.size(), MSG_NOSIGNAL) > 0) {
  }
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ | INTEREST_WRITE);
  EXPECT_EQ(1, poll());
  reactor.modify(pair.a.get(), INTEREST_WRITE);
  EXPECT_EQ(0, poll());
}

TEST_F(ReactorTest, APipeWithoutAReaderIsAnErrorAndWithoutAWriterTheEnd) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(0, ::pipe(ends));
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  reactor.register_fd(reader.get(), 1, INTEREST_READ);
  writer.reset();
  ASSERT_EQ(1, poll());
  EXPECT_TRUE(events[0].is_readable());
  EXPECT_TRUE(events[0].is_hup());
  reactor.unregister(reader.get());
  ASSERT_EQ(0, ::pipe(ends));
  reader.reset(ends[0]);
  writer.reset(ends[1]);
  reactor.register_fd(writer.get(), 2, INTEREST_WRITE);
  reader.reset();
  ASSERT_EQ(1, poll());
  EXPECT_TRUE(events[0].is_error());
}

// field-bugs A04: a table that grows inside a batch.
TEST_F(ReactorTest, RegisteringDuringABatchLeavesTheRestOfItAlone) {
  std::vector<SocketPair> pairs(8);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    reactor.register_fd(pairs[i].a.get(), i, INTEREST_READ);
    pairs[i].feed_a();
  }
  ASSERT_EQ(8, poll());
  std::vector<SocketPair> more(200);
  for (std::size_t i = 0; i < more.size(); ++i) reactor.register_fd(more[i].a.get(), 100 + i, INTEREST_READ);
  for (const Event& event : events) EXPECT_TRUE(reactor.is_current(event, INTEREST_READ));
  EXPECT_EQ(208, reactor.registered_count());
  EXPECT_EQ(8, poll());
}

}  // namespace
}  // namespace flare::testing
