// Waking: from other threads, from signal handlers, and after the reactor is gone.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "reactor_fixture.h"

namespace flare::testing {
namespace {

// Mutants R05, R06
// proves: C-REACTOR-09, INV-20
TEST_F(ReactorTest, WakesCoalesceAndThePollMakesTheDescriptorQuiet) {
  for (int i = 0; i < 100; ++i) reactor.wakeup();
  ASSERT_EQ(1, poll(-1));
  EXPECT_TRUE(events[0].is_wakeup());
  EXPECT_EQ(WAKEUP_TOKEN, events[0].token());
  EXPECT_EQ(0, reactor.registered_count());
  std::uint64_t count = 0;
  EXPECT_EQ(-1, ::read(reactor.wake_fd(), &count, sizeof count));
  EXPECT_EQ(0, poll());
  reactor.wakeup();
  EXPECT_EQ(1, poll());
}

// field-bugs B04
// proves: INV-20
TEST_F(ReactorTest, AFullWakeCounterIsAWakeThatStands) {
  const std::uint64_t most = ~std::uint64_t{0} - 1;
  ASSERT_EQ(static_cast<ssize_t>(sizeof most), ::write(reactor.wake_fd(), &most, sizeof most));
  for (int i = 0; i < 1000; ++i) reactor.wakeup();
  EXPECT_EQ(1, poll());
  EXPECT_EQ(0, poll());
  reactor.wakeup();
  EXPECT_EQ(1, poll());
}

// Mutant R06: a count that is raised before each wake and read after the poll never lacks the last one. The poll has no
// time limit, so a lost wake hangs here.
// proves: C-REACTOR-09, INV-20
TEST_F(ReactorTest, NoWakeIsLostBetweenThreads) {
  constexpr int kEach = 2000;
  Atomic<int> sent{0};
  std::array<Thread, 3> threads;
  for (Thread& thread : threads) {
    thread = Thread::start([&] {
               for (int i = 0; i < kEach; ++i) {
                 sent.fetch_add(1);
                 reactor.wakeup();
               }
             }).value();
  }
  while (sent.load() < 3 * kEach) {
    if (poll(-1) != 1 || !events[0].is_wakeup()) ADD_FAILURE() << "a poll without a wakeup";
  }
  for (Thread& thread : threads) thread.join();
}

Reactor* woken_by_signal = nullptr;

// proves: C-REACTOR-09
TEST_F(ReactorTest, ASignalHandlerMayWakeAndErrnoStays) {
  woken_by_signal = &reactor;
  const auto before = std::signal(SIGUSR1, [](int) { woken_by_signal->wakeup(); });
  errno = EDOM;
  std::raise(SIGUSR1);
  const int error = errno;
  std::signal(SIGUSR1, before);
  EXPECT_EQ(EDOM, error);
  EXPECT_EQ(1, poll());
}

// Without the memory of a wake it would be lost with the caller's table of events: wake and traffic come together.
// proves: C-REACTOR-09
TEST_F(ReactorTest, AWakeupComesThroughBesideTraffic) {
  std::vector<SocketPair> pairs(4);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    reactor.register_fd(pairs[i].a.get(), i, INTEREST_READ);
    pairs[i].feed_a();
  }
  reactor.wakeup();
  bool woken = false;
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(1, poll(0, 1));
    woken = woken || events[0].is_wakeup();
  }
  EXPECT_TRUE(woken);
}

// proves: C-REACTOR-12, INV-20
TEST_F(ReactorTest, AWakeDescriptorClosesWithItsLastHolder) {
  auto waker = share<Waker>();
  const int number = waker->fd();
  {
    Reactor built(waker);
    EXPECT_EQ(number, built.wake_fd());
    waker->wake();
    std::vector<Event> out;
    EXPECT_EQ(1, built.poll(-1, out));
  }
  EXPECT_TRUE(is_open(number));
  // The reactor is gone; a late wake goes to the descriptor that was meant, not to a stranger with its number.
  const SocketPair stranger;
  waker->wake();
  std::uint64_t count = 0;
  EXPECT_EQ(static_cast<ssize_t>(sizeof count), ::read(number, &count, sizeof count));
  EXPECT_EQ(1U, count);
  char byte = 0;
  EXPECT_EQ(-1, ::recv(stranger.a.get(), &byte, 1, 0));
  EXPECT_EQ(-1, ::recv(stranger.b.get(), &byte, 1, 0));
  waker.reset();
  EXPECT_FALSE(is_open(number));
}

TEST_F(ReactorTest, OthersMayWakeThroughTheNumber) {
  const std::uint64_t one = 1;
  ASSERT_EQ(static_cast<ssize_t>(sizeof one), ::write(reactor.wake_fd(), &one, sizeof one));
  ASSERT_EQ(1, poll());
  EXPECT_TRUE(events[0].is_wakeup());
}

TEST_F(ReactorTest, AWakeDescriptorThatCannotBeOpenedIsAnError) {
  faults::fail(faults::Symbol::kEventfd, 1, EMFILE);
  std::string what;
  EXPECT_EQ(EMFILE, error_of([] { const Waker bad; }, &what));
  EXPECT_NE(std::string::npos, what.find("Waker")) << what;
}

}  // namespace
}  // namespace flare::testing
