// What registrations and exclusive wakes do, on both kernels.
#include "conformance/facts.h"

namespace flare::sim::conformance {
namespace {

using EpollFacts = Facts;

TEST_P(EpollFacts, ANumberIsTheLowestFreeOneAndReusedAtOnce) {
  EXPECT_EQ(0, counter());
  EXPECT_EQ(1, counter());
  EXPECT_EQ(2, counter());
  EXPECT_TRUE(world().close(0).ok());
  EXPECT_TRUE(world().close(1).ok());
  EXPECT_EQ(0, set());
  EXPECT_EQ(1, world().dup(2).value());
  EXPECT_EQ(3, counter());
}

TEST_P(EpollFacts, NumberZeroIsAnOrdinaryOne) {
  const int zero = counter(1);
  ASSERT_EQ(0, zero);
  const int ep = set();
  EXPECT_EQ(0, add(ep, zero, EPOLLIN, 7));
  EXPECT_EQ((Seen{{7, EPOLLIN}}), take(ep));
}

TEST_P(EpollFacts, ADupKeepsTheRegistrationOfADeadNumber) {
  const int ep = set();
  const int fd = counter(1);
  EXPECT_EQ(0, add(ep, fd, EPOLLIN, 7));
  const int copy = world().dup(fd).value();
  EXPECT_TRUE(world().close(fd).ok());
  EXPECT_EQ((Seen{{7, EPOLLIN}}), take(ep));
  EXPECT_EQ((Seen{{7, EPOLLIN}}), take(ep)) << "it is level triggered";
  // Nobody can remove it: its number is gone, and the copy is another key.
  EXPECT_EQ(EBADF, world().epoll_ctl(ep, EPOLL_CTL_DEL, fd, 0, 0).error);
  EXPECT_EQ(ENOENT, world().epoll_ctl(ep, EPOLL_CTL_DEL, copy, 0, 0).error);
  // The number comes again, as something else: that is a registration of its own.
  const int again = counter(1);
  ASSERT_EQ(fd, again);
  EXPECT_EQ(0, add(ep, again, EPOLLIN, 8));
  EXPECT_EQ((Seen{{7, EPOLLIN}, {8, EPOLLIN}}), take(ep));
  EXPECT_TRUE(world().epoll_ctl(ep, EPOLL_CTL_DEL, again, 0, 0).ok());
  EXPECT_EQ((Seen{{7, EPOLLIN}}), take(ep));
  // The last copy takes it along.
  EXPECT_TRUE(world().close(copy).ok());
  EXPECT_EQ(Seen{}, take(ep));
}

TEST_P(EpollFacts, ClosingTheLastNumberEndsTheRegistration) {
  const int ep = set();
  const int fd = counter(1);
  EXPECT_EQ(0, add(ep, fd, EPOLLIN, 7));
  EXPECT_TRUE(world().close(fd).ok());
  EXPECT_EQ(Seen{}, take(ep));
  const int again = counter(1);
  ASSERT_EQ(fd, again);
  EXPECT_EQ(ENOENT, world().epoll_ctl(ep, EPOLL_CTL_MOD, again, EPOLLIN, 8).error);
}

TEST_P(EpollFacts, TheRulesOfRegistering) {
  const int ep = set();
  const int other = set();
  const int fd = counter();
  constexpr std::uint32_t kExclusive = EPOLLIN | EPOLLEXCLUSIVE;
  EXPECT_EQ(EINVAL, add(ep, fd, kExclusive | EPOLLRDHUP));
  EXPECT_EQ(EINVAL, add(ep, fd, kExclusive | EPOLLONESHOT));
  EXPECT_EQ(EINVAL, add(ep, other, kExclusive));
  EXPECT_EQ(EINVAL, add(ep, ep, EPOLLIN));
  EXPECT_EQ(EINVAL, add(fd, ep, EPOLLIN));
  EXPECT_EQ(EBADF, add(ep, 31, EPOLLIN));
  EXPECT_EQ(EBADF, add(31, fd, EPOLLIN));
  EXPECT_EQ(ENOENT, world().epoll_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN, 1).error);
  EXPECT_EQ(ENOENT, world().epoll_ctl(ep, EPOLL_CTL_DEL, fd, 0, 0).error);
  EXPECT_EQ(0, add(ep, fd, kExclusive));
  EXPECT_EQ(EEXIST, add(ep, fd, EPOLLIN));
  EXPECT_EQ(EINVAL, world().epoll_ctl(ep, EPOLL_CTL_MOD, fd, kExclusive, 1).error);
  EXPECT_EQ(EINVAL, world().epoll_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN, 1).error);
  EXPECT_EQ(EINVAL, world().epoll_ctl(ep, 17, fd, EPOLLIN, 1).error);
  EXPECT_EQ(0, add(ep, other, EPOLLIN));
  EXPECT_EQ(ELOOP, add(other, ep, EPOLLIN));
}

TEST_P(EpollFacts, SetsNestFiveDeep) {
  int inner = set();
  for (int depth = 1; depth < 5; ++depth) {
    const int outer = set();
    EXPECT_EQ(0, add(outer, inner, EPOLLIN)) << depth;
    inner = outer;
  }
  EXPECT_EQ(ELOOP, add(set(), inner, EPOLLIN));
}

TEST_P(EpollFacts, AnExclusiveWakeIsKnownToTheOneSetAlone) {
  const int listening = listener();
  const int first = set();
  const int second = set();
  EXPECT_EQ(0, add(first, listening, EPOLLIN | EPOLLEXCLUSIVE));
  EXPECT_EQ(0, add(second, listening, EPOLLIN | EPOLLEXCLUSIVE));
  world().fall_asleep(first);
  client(listening);
  EXPECT_TRUE(world().has_woken());
  world().end_sleep();
  // The other set does not show the listener, however often it is asked; the one that was woken does.
  EXPECT_NE(0U, bits(listening) & EPOLLIN);
  EXPECT_EQ(Seen{}, take(second));
  EXPECT_EQ(Seen{}, take(second));
  EXPECT_EQ((Seen{{1, EPOLLIN}}), take(first));
  // To add it again shows it.
  EXPECT_TRUE(world().epoll_ctl(second, EPOLL_CTL_DEL, listening, 0, 0).ok());
  EXPECT_EQ(0, add(second, listening, EPOLLIN | EPOLLEXCLUSIVE));
  EXPECT_EQ((Seen{{1, EPOLLIN}}), take(second));
}

TEST_P(EpollFacts, WithNobodyAsleepEverySetSeesIt) {
  const int listening = listener();
  const int first = set();
  const int second = set();
  EXPECT_EQ(0, add(first, listening, EPOLLIN | EPOLLEXCLUSIVE));
  EXPECT_EQ(0, add(second, listening, EPOLLIN | EPOLLEXCLUSIVE));
  client(listening);
  EXPECT_EQ((Seen{{1, EPOLLIN}}), take(first));
  EXPECT_EQ((Seen{{1, EPOLLIN}}), take(second));
}

TEST_P(EpollFacts, TheWalkPassesSetsWhereNobodySleeps) {
  const int listening = listener();
  const int first = set();
  const int second = set();
  const int third = set();
  for (const int ep : {first, second, third}) EXPECT_EQ(0, add(ep, listening, EPOLLIN | EPOLLEXCLUSIVE));
  world().fall_asleep(second);
  client(listening);
  EXPECT_TRUE(world().has_woken());
  world().end_sleep();
  EXPECT_EQ((Seen{{1, EPOLLIN}}), take(first));
  EXPECT_EQ(Seen{}, take(third));
}

TEST_P(EpollFacts, AListenerThatIsDisabledShowsInEverySet) {
  const int listening = listener();
  const int first = set();
  const int second = set();
  EXPECT_EQ(0, add(first, listening, EPOLLIN | EPOLLEXCLUSIVE));
  EXPECT_EQ(0, add(second, listening, EPOLLIN | EPOLLEXCLUSIVE));
  world().fall_asleep(first);
  EXPECT_TRUE(world().shutdown(listening, SHUT_RDWR).ok());
  EXPECT_TRUE(world().has_woken());
  world().end_sleep();
  EXPECT_EQ((Seen{{1, EPOLLHUP}}), take(first));
  EXPECT_EQ((Seen{{1, EPOLLHUP}}), take(second));
}

TEST_P(EpollFacts, OneshotIsSilentUntilItIsModified) {
  const int ep = set();
  const int fd = counter(1);
  EXPECT_EQ(0, add(ep, fd, EPOLLIN | EPOLLONESHOT));
  EXPECT_EQ((Seen{{1, EPOLLIN}}), take(ep));
  signal(fd);
  EXPECT_EQ(Seen{}, take(ep));
  EXPECT_TRUE(world().epoll_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT, 2).ok());
  EXPECT_EQ((Seen{{2, EPOLLIN}}), take(ep));
}

TEST_P(EpollFacts, ACounterRefusesWhatItCannotHold) {
  const int fd = counter();
  const std::uint64_t most = UINT64_MAX - 1;
  EXPECT_TRUE(world().write(fd, &most, sizeof most).ok());
  EXPECT_EQ(unsigned{EPOLLIN}, bits(fd));
  const std::uint64_t one = 1;
  EXPECT_EQ(EAGAIN, world().write(fd, &one, sizeof one).error());
  const std::uint64_t invalid = UINT64_MAX;
  EXPECT_EQ(EINVAL, world().write(fd, &invalid, sizeof invalid).error());
  std::uint64_t value = 0;
  EXPECT_TRUE(world().read(fd, &value, sizeof value).ok());
  EXPECT_EQ(most, value);
  EXPECT_EQ(EAGAIN, world().read(fd, &value, sizeof value).error());
}

INSTANTIATE_TEST_SUITE_P(Kernel, EpollFacts, ::testing::Values("real", "simulated"),
                         [](const auto& kernel) { return std::string(kernel.param); });

}  // namespace
}  // namespace flare::sim::conformance
