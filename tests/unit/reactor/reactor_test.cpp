// Registering: what is refused, what is counted, what moves.
#include <fcntl.h>
#include <unistd.h>

#include <limits>
#include <memory>
#include <type_traits>

#include "reactor_fixture.h"

namespace flare::testing {
namespace {

using faults::Symbol;

static_assert(!std::is_copy_constructible_v<Reactor> && !std::is_copy_assignable_v<Reactor>);
static_assert(std::is_nothrow_move_constructible_v<Reactor> && std::is_nothrow_move_assignable_v<Reactor>);

// Mutants R04, R12; field-bugs A06
// proves: C-REACTOR-01
TEST_F(ReactorTest, RefusesABadRegistrationAndChangesNothing) {
  SocketPair pair;
  const int fd = pair.a.get();
  std::string what;
  EXPECT_EQ(EINVAL, error_of([&] { reactor.register_fd(fd, WAKEUP_TOKEN, INTEREST_READ); }, &what));
  EXPECT_NE(std::string::npos, what.find("WAKEUP_TOKEN")) << what;
  EXPECT_EQ(EINVAL, error_of([&] { reactor.register_exclusive(fd, WAKEUP_TOKEN, INTEREST_READ); }));
  for (const int interest : {0, 4, 8, -1, INTEREST_READ | 4, std::numeric_limits<int>::min()}) {
    EXPECT_EQ(EINVAL, error_of([&] { reactor.register_fd(fd, 1, interest); }, &what));
    EXPECT_NE(std::string::npos, what.find("interest " + std::to_string(interest))) << what;
    EXPECT_EQ(EINVAL, error_of([&] { reactor.register_exclusive(fd, 1, interest); }));
  }
  EXPECT_EQ(EBADF, error_of([&] { reactor.register_fd(-1, 1, INTEREST_READ); }));
  EXPECT_EQ(EBADF, error_of([&] { reactor.register_fd(std::numeric_limits<int>::max(), 1, INTEREST_READ); }, &what));
  EXPECT_NE(std::string::npos, what.find("fd 2147483647")) << what;
  EXPECT_EQ(EEXIST, error_of([&] { reactor.register_fd(reactor.wake_fd(), 1, INTEREST_READ); }));
  const UniqueFd file(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(EPERM, error_of([&] { reactor.register_fd(file.get(), 1, INTEREST_READ); }));
  EXPECT_EQ(0, reactor.registered_count());
  EXPECT_FALSE(reactor.is_registered(fd));
  EXPECT_FALSE(reactor.is_registered(file.get()));
  EXPECT_FALSE(reactor.is_registered(-1));
  reactor.register_fd(fd, 1, INTEREST_READ);
  pair.feed_a();
  EXPECT_EQ(1, poll());
}

// proves: C-REACTOR-01
TEST_F(ReactorTest, RefusesASecondRegistrationOfTheSameFd) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  EXPECT_EQ(EEXIST, error_of([&] { reactor.register_fd(pair.a.get(), 2, INTEREST_WRITE); }));
  EXPECT_EQ(EEXIST, error_of([&] { reactor.register_exclusive(pair.a.get(), 2, INTEREST_READ); }));
  EXPECT_EQ(1, reactor.registered_count());
  pair.feed_a();
  ASSERT_EQ(1, poll());
  EXPECT_EQ(1U, events[0].token());
  EXPECT_FALSE(events[0].is_writable());
}

// field-bugs A06, A15
// proves: C-REACTOR-01
TEST_F(ReactorTest, ASystemThatRefusesLeavesNothingBehind) {
  SocketPair pair;
  faults::fail(Symbol::kEpollCtl, 1, ENOSPC, 2);
  EXPECT_EQ(ENOSPC, error_of([&] { reactor.register_fd(pair.a.get(), 1, INTEREST_READ); }));
  EXPECT_EQ(ENOSPC, error_of([&] { reactor.register_exclusive(pair.a.get(), 1, INTEREST_READ); }));
  EXPECT_EQ(0, reactor.registered_count());
  reactor.register_fd(pair.a.get(), 1, INTEREST_READ);
  faults::fail(Symbol::kEpollCtl, 1, ENOMEM, 2);
  EXPECT_EQ(ENOMEM, error_of([&] { reactor.modify(pair.a.get(), INTEREST_WRITE); }));
  EXPECT_EQ(ENOMEM, error_of([&] { reactor.unregister(pair.a.get()); }));
  EXPECT_TRUE(reactor.is_registered(pair.a.get()));
  EXPECT_EQ(0, poll());  // still read interest
  pair.feed_a();
  EXPECT_EQ(1, poll());
  reactor.unregister(pair.a.get());
}

// proves: C-REACTOR-05
TEST_F(ReactorTest, ModifyKeepsTheTokenAndCostsNothingWithoutAChange) {
  SocketPair pair;
  reactor.register_fd(pair.a.get(), 9, INTEREST_READ);
  EXPECT_EQ(0, poll());
  reactor.modify(pair.a.get(), INTEREST_READ | INTEREST_WRITE);
  ASSERT_EQ(1, poll());
  EXPECT_EQ(9U, events[0].token());
  EXPECT_TRUE(events[0].is_writable());
  EXPECT_FALSE(events[0].is_readable());
  const long before = faults::calls(Symbol::kEpollCtl);
  for (int i = 0; i < 10; ++i) reactor.modify(pair.a.get(), INTEREST_READ | INTEREST_WRITE);
  EXPECT_EQ(before, faults::calls(Symbol::kEpollCtl));
  reactor.modify(pair.a.get(), INTEREST_READ);
  EXPECT_EQ(before + 1, faults::calls(Symbol::kEpollCtl));
  EXPECT_EQ(0, poll());
}

// Mutant R08
// proves: C-REACTOR-05
TEST_F(ReactorTest, ModifyRefusesWhatItCannotDo) {
  SocketPair pair;
  EXPECT_EQ(ENOENT, error_of([&] { reactor.modify(pair.a.get(), INTEREST_READ); }));
  EXPECT_EQ(ENOENT, error_of([&] { reactor.modify(-1, INTEREST_READ); }));
  reactor.register_exclusive(pair.a.get(), 1, INTEREST_READ);
  EXPECT_EQ(EINVAL, error_of([&] { reactor.modify(pair.a.get(), INTEREST_READ); }));
  EXPECT_EQ(EINVAL, error_of([&] { reactor.modify(pair.a.get(), INTEREST_WRITE); }));
  reactor.register_fd(pair.b.get(), 2, INTEREST_READ);
  EXPECT_EQ(EINVAL, error_of([&] { reactor.modify(pair.b.get(), 0); }));
  EXPECT_EQ(2, reactor.registered_count());
  pair.feed_a();
  ASSERT_EQ(1, poll());  // the listener is alive after the refusal
  EXPECT_EQ(1U, events[0].token());
}

// Mutant R09
// proves: C-REACTOR-06, C-REACTOR-08
TEST_F(ReactorTest, UnregisterEndsItAndTheNumberCanComeBack) {
  EXPECT_EQ(ENOENT, error_of([&] { reactor.unregister(3); }));
  for (int round = 0; round < 1000; ++round) {
    SocketPair pair;
    reactor.register_fd(pair.a.get(), static_cast<std::uint64_t>(round), INTEREST_READ);
    ASSERT_EQ(1, reactor.registered_count());
    reactor.unregister(pair.a.get());
    ASSERT_EQ(0, reactor.registered_count());
    ASSERT_FALSE(reactor.is_registered(pair.a.get()));
    ASSERT_EQ(ENOENT, error_of([&] { reactor.unregister(pair.a.get()); }));
    pair.feed_a();
    ASSERT_EQ(0, poll());
  }
}

// proves: C-REACTOR-08
TEST_F(ReactorTest, FdZeroIsOrdinary) {
  const UniqueFd saved(::fcntl(0, F_DUPFD_CLOEXEC, 3));
  SocketPair pair;
  ASSERT_EQ(0, ::dup2(pair.a.get(), 0));
  reactor.register_fd(0, 0, INTEREST_READ);
  EXPECT_TRUE(reactor.is_registered(0));
  EXPECT_EQ(1, reactor.registered_count());
  pair.feed_a();
  ASSERT_EQ(1, poll());
  EXPECT_EQ(0U, events[0].token());
  EXPECT_FALSE(events[0].is_wakeup());
  EXPECT_TRUE(reactor.is_current(events[0], INTEREST_READ));
  reactor.unregister(0);
  EXPECT_FALSE(reactor.is_current(events[0]));
  if (saved.valid()) {
    ::dup2(saved.get(), 0);
  } else {
    ::close(0);
  }
}

// proves: INV-12
TEST_F(ReactorTest, AConstructionThatFailsLeavesNothingOpen) {
  const int before = open_descriptors();
  faults::reset();
  {
    const Reactor good;
  }
  for (const Symbol symbol : {Symbol::kEventfd, Symbol::kEpollCreate1, Symbol::kEpollCtl}) {
    EXPECT_EQ(1, faults::calls(symbol));
    faults::fail(symbol, 1, EMFILE);
    EXPECT_EQ(EMFILE, error_of([] { const Reactor bad; }));
    EXPECT_EQ(before, open_descriptors());
  }
}

// proves: C-REACTOR-10
TEST_F(ReactorTest, MovingKeepsRegistrationsAndClosesEachDescriptorOnce) {
  const int before = open_descriptors();
  {
    SocketPair pair;
    Reactor first;
    first.register_fd(pair.a.get(), 4, INTEREST_READ);
    pair.feed_a();
    Reactor second(std::move(first));
    EXPECT_EQ(1, second.registered_count());
    Reactor third;
    third.register_fd(pair.b.get(), 5, INTEREST_WRITE);
    third = std::move(second);
    Reactor& same = third;
    third = std::move(same);
    std::vector<Event> out;
    ASSERT_EQ(1, third.poll(0, out));
    EXPECT_EQ(4U, out[0].token());
    third.wakeup();
    EXPECT_EQ(2, third.poll(0, out));
    first = Reactor();  // a moved-from one can be assigned
    EXPECT_EQ(0, first.poll(0, out));
  }
  EXPECT_EQ(before, open_descriptors());
}

}  // namespace
}  // namespace flare::testing
