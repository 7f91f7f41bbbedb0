// One listener: accept, disable, options.
#include "flare/net/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "flare/base/limits.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

int option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(0, ::getsockopt(fd, level, name, &value, &size));
  return value;
}

void wait_for_client(const Listener& listener) {
  pollfd entry{listener.fd(), POLLIN, 0};
  ASSERT_EQ(1, ::poll(&entry, 1, 5000));
}

// proves: C-NET-02, C-NET-04
TEST(Listener, AcceptsReadySockets) {
  const auto listener = bind_shared(own_loopback(), ListenerOptions());
  EXPECT_TRUE(listener->shared());
  EXPECT_NE(0, listener->address().port());
  EXPECT_EQ(EAGAIN, listener->accept().error());
  const auto client = connect_to(listener->address()).first;
  ASSERT_TRUE(client.valid());
  wait_for_client(*listener);
  const UniqueFd accepted(listener->accept().value());
  EXPECT_NE(0, ::fcntl(accepted.get(), F_GETFL) & O_NONBLOCK);
  EXPECT_NE(0, ::fcntl(accepted.get(), F_GETFD) & FD_CLOEXEC);
  EXPECT_EQ(1, option(accepted.get(), IPPROTO_TCP, TCP_NODELAY));
}

// proves: C-NET-04
TEST(Listener, NoDelayAndDeferAcceptAreOptions) {
  ListenerOptions options;
  EXPECT_EQ(limits::kDefaultBacklog, options.backlog);
  options.nodelay = false;
  options.defer_accept_s = 1;
  const auto listener = bind_shared(own_loopback(), options);
  EXPECT_EQ(0, option(listener->fd(), IPPROTO_TCP, TCP_NODELAY));
  EXPECT_GT(option(listener->fd(), IPPROTO_TCP, TCP_DEFER_ACCEPT), 0);
  EXPECT_EQ(0, option(listener->fd(), SOL_SOCKET, SO_REUSEPORT));
  EXPECT_EQ(1, option(listener->fd(), SOL_SOCKET, SO_REUSEADDR));
}

// proves: C-NET-04
TEST(Listener, AnIpv6ListenerServesIpv4OnlyWithDualStack) {
  for (const bool dual : {false, true}) {
    ListenerOptions options;
    options.dual_stack = dual;
    const auto listener = bind_shared(SocketAddress::parse("[::]:0"), options);
    EXPECT_EQ(dual ? 0 : 1, option(listener->fd(), IPPROTO_IPV6, IPV6_V6ONLY));
    const auto v4 = connect_to(own_loopback(listener->address().port()));
    EXPECT_EQ(dual ? 0 : ECONNREFUSED, v4.second);
    EXPECT_EQ(0, connect_to(SocketAddress::parse("[::1]:0").with_port(listener->address().port())).second);
  }
}

// proves: INV-11
TEST(Listener, DisablingRefusesClientsAndFreesNoNumber) {
  const auto listener = bind_shared(own_loopback(), ListenerOptions());
  EXPECT_FALSE(listener->is_disabled());
  EXPECT_TRUE(listener->disable());
  EXPECT_TRUE(listener->is_disabled());
  EXPECT_FALSE(listener->disable());
  EXPECT_TRUE(is_open(listener->fd()));
  EXPECT_EQ(ECONNREFUSED, connect_to(listener->address()).second);
  EXPECT_EQ(EINVAL, listener->accept().error());
}

// proves: INV-11
TEST(Listener, OnlyOneOfManyThreadsDisables) {
  for (int round = 0; round < 50; ++round) {
    const auto listener = bind_shared(own_loopback(), ListenerOptions());
    Atomic<int> winners{0};
    Atomic<int> refused{0};
    std::array<Thread, 3> threads;
    for (Thread& thread : threads) {
      thread = Thread::start([&] {
                 winners.fetch_add(listener->disable() ? 1 : 0);
                 refused.fetch_add(listener->is_disabled() && listener->accept().error() == EINVAL ? 1 : 0);
               }).value();
    }
    for (Thread& thread : threads) thread.join();
    EXPECT_EQ(1, winners.load());
    EXPECT_EQ(3, refused.load());
  }
}

TEST(Listener, ClosesWithItsLastHolder) {
  auto listener = bind_shared(own_loopback(), ListenerOptions());
  const int number = listener->fd();
  auto other = listener;
  listener.reset();
  EXPECT_TRUE(is_open(number));
  other.reset();
  EXPECT_FALSE(is_open(number));
}

}  // namespace
}  // namespace flare::testing
