// What listeners, their ports and their queues do, on both kernels.
#include "conformance/facts.h"

namespace flare::sim::conformance {
namespace {

using ListenerFacts = Facts;

TEST_P(ListenerFacts, PortZeroIsDecidedByBind) {
  const int fd = bound(address(), true, false);
  const int port = port_of(fd);
  EXPECT_NE(0, port);
  EXPECT_TRUE(world().listen(fd, 8).ok());
  EXPECT_EQ(port, port_of(fd));
}

TEST_P(ListenerFacts, ABusyPortIsRefusedWhileSomebodyListens) {
  const int listening = listener();
  const sockaddr_storage there = address(port_of(listening));
  EXPECT_EQ(-EADDRINUSE, bound(there, false, false));
  EXPECT_EQ(-EADDRINUSE, bound(there, true, false));
  EXPECT_EQ(-EADDRINUSE, bound(there, true, true));
}

TEST_P(ListenerFacts, ReuseAddressSharesAPortOnlyUntilSomebodyListens) {
  const int first = bound(address(), true, false);
  const sockaddr_storage there = address(port_of(first));
  EXPECT_EQ(-EADDRINUSE, bound(there, false, false));
  const int second = bound(there, true, false);
  ASSERT_GE(second, 0);
  EXPECT_TRUE(world().listen(first, 8).ok());
  EXPECT_EQ(EADDRINUSE, world().listen(second, 8).error);
}

TEST_P(ListenerFacts, ReusePortHidesABusyPort) {
  const int first = bound(address(), true, true);
  const sockaddr_storage there = address(port_of(first));
  EXPECT_TRUE(world().listen(first, 8).ok());
  const int second = bound(there, true, true);
  ASSERT_GE(second, 0) << "a second server would share the clients, silently";
  EXPECT_TRUE(world().listen(second, 8).ok());
  EXPECT_EQ(-EADDRINUSE, bound(there, true, false)) << "and a bind without it finds that out";
}

TEST_P(ListenerFacts, AProbeThatDoesNotListenLeavesRoomForTheGroup) {
  const int probe = bound(address(), true, false);
  const sockaddr_storage there = address(port_of(probe));
  for (int i = 0; i < 3; ++i) {
    const int member = bound(there, true, true);
    ASSERT_GE(member, 0);
    EXPECT_TRUE(world().listen(member, 8).ok());
  }
  EXPECT_TRUE(world().close(probe).ok());
  EXPECT_EQ(-EADDRINUSE, bound(there, true, false));
}

TEST_P(ListenerFacts, TheNextServerGetsAPortWithOldConnectionsIfItReusesAddresses) {
  const int listening = listener();
  const sockaddr_storage there = address(port_of(listening));
  const int peer = client(listening);
  const int accepted = accept(listening);
  EXPECT_TRUE(world().close(accepted).ok());  // the server first: its side stays in TIME_WAIT
  EXPECT_EQ(0, recv(peer));
  EXPECT_TRUE(world().close(peer).ok());
  EXPECT_TRUE(world().close(listening).ok());
  EXPECT_EQ(-EADDRINUSE, bound(there, false, false));
  const int next = bound(there, true, false);
  ASSERT_GE(next, 0);
  EXPECT_TRUE(world().listen(next, 8).ok());
}

TEST_P(ListenerFacts, ADisabledListenerRefusesAndKeepsItsNumber) {
  const int listening = listener();
  const int served = client(listening);
  const int accepted = accept(listening);
  const int waiting = client(listening);
  EXPECT_EQ(1, world().accept_backlog(listening).value());
  EXPECT_TRUE(world().shutdown(listening, SHUT_RDWR).ok());
  EXPECT_EQ(-EINVAL, accept(listening));
  EXPECT_EQ(unsigned{EPOLLHUP | EPOLLOUT | EPOLLWRNORM}, bits(listening));
  EXPECT_EQ(-ECONNRESET, recv(waiting)) << "nobody accepted it";
  EXPECT_EQ(1, send(served));
  EXPECT_EQ(1, recv(accepted));
  const int late = socket();
  EXPECT_EQ(EINPROGRESS, world().connect(late, address(port_of(listening)), sizeof(sockaddr_in)).error);
  EXPECT_EQ(ECONNREFUSED, error_of(late));
  EXPECT_EQ(ENOTCONN, world().shutdown(listening, SHUT_RDWR).error) << "once more does no harm";
}

TEST_P(ListenerFacts, ADisabledListenerKeepsAPortThatWasAskedFor) {
  const int first = bound(address(), false, false);
  const sockaddr_storage there = address(port_of(first));
  EXPECT_TRUE(world().close(first).ok());
  const int listening = bound(there, true, false);
  ASSERT_GE(listening, 0);
  EXPECT_TRUE(world().listen(listening, 8).ok());
  EXPECT_TRUE(world().shutdown(listening, SHUT_RDWR).ok());
  EXPECT_EQ(-EADDRINUSE, bound(there, false, false));
  EXPECT_GE(bound(there, true, false), 0) << "it does not listen, so reusing is enough";
}

// A port that was chosen for the socket is free again as soon as the listener is disabled.
TEST_P(ListenerFacts, ADisabledListenerLosesAPortThatWasChosenForIt) {
  const int listening = bound(address(), false, false);
  EXPECT_TRUE(world().listen(listening, 8).ok());
  const sockaddr_storage there = address(port_of(listening));
  EXPECT_TRUE(world().shutdown(listening, SHUT_RDWR).ok());
  EXPECT_GE(bound(there, false, false), 0);
}

TEST_P(ListenerFacts, ShutdownOfWritingDoesNotDisable) {
  const int listening = listener();
  EXPECT_TRUE(world().shutdown(listening, SHUT_WR).ok());
  client(listening);
  EXPECT_GE(accept(listening), 0);
}

TEST_P(ListenerFacts, ClosingAListenerResetsWhoWaits) {
  const int listening = listener();
  const int waiting = client(listening);
  EXPECT_TRUE(world().close(listening).ok());
  EXPECT_EQ(-ECONNRESET, recv(waiting));
}

TEST_P(ListenerFacts, ADisabledListenerOfADupIsDisabledForAll) {
  const int listening = listener();
  const int copy = world().dup(listening).value();
  EXPECT_TRUE(world().shutdown(copy, SHUT_RDWR).ok());
  EXPECT_EQ(-EINVAL, accept(listening));
}

TEST_P(ListenerFacts, WithoutANumberTheClientStaysInTheQueue) {
  const int listening = listener();
  client(listening);
  const int used = counter();
  world().set_limit(used + 1);
  EXPECT_EQ(-EMFILE, accept(listening));
  EXPECT_EQ(1, world().accept_backlog(listening).value());
  EXPECT_TRUE(world().close(used).ok());
  EXPECT_EQ(used, accept(listening));
  EXPECT_EQ(-EMFILE, accept(listening)) << "it is said before anybody looks for a client";
}

TEST_P(ListenerFacts, AClientThatLeftIsStillAccepted) {
  const int listening = listener();
  const int peer = client(listening);
  EXPECT_TRUE(world().set_linger(peer, true, 0).ok());
  EXPECT_TRUE(world().close(peer).ok());
  const int accepted = accept(listening);
  ASSERT_GE(accepted, 0);
  EXPECT_EQ(-ECONNRESET, recv(accepted));
}

TEST_P(ListenerFacts, AFullQueueDropsClientsUntilTheirRetry) {
  const int listening = listener(1);
  client(listening);
  client(listening);
  EXPECT_EQ(2, world().accept_backlog(listening).value()) << "one more than the backlog";
  const int late = client(listening);
  EXPECT_EQ(0U, bits(late)) << "nothing is decided";
  EXPECT_EQ(EALREADY, connect(late, listening));
  EXPECT_GE(accept(listening), 0);
  EXPECT_EQ(1, world().accept_backlog(listening).value()) << "room alone brings nobody";
  EXPECT_TRUE(world().pass_timers(late));
  EXPECT_EQ(2, world().accept_backlog(listening).value());
  EXPECT_EQ(0, connect(late, listening));
}

// Its child has both ends shut before it is one, and so refuses what promotes it.
TEST_P(ListenerFacts, AListenerThatWasShutDownBeforeItListenedResetsADeferredClient) {
  const int fd = bound(address(), true, false);
  EXPECT_EQ(ENOTCONN, world().shutdown(fd, SHUT_RDWR).error);
  EXPECT_TRUE(world().setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1).ok());
  EXPECT_TRUE(world().listen(fd, 8).ok());
  const int peer = client(fd);
  EXPECT_EQ(1, send(peer));
  EXPECT_EQ(static_cast<unsigned>(EPOLLHUP | EPOLLERR), bits(peer) & (EPOLLHUP | EPOLLERR));
  EXPECT_EQ(EPIPE, error_of(peer));
  const int child = accept(fd);
  ASSERT_GE(child, 0);
  EXPECT_EQ(ECONNRESET, error_of(child));
  EXPECT_EQ(0, recv(child));
}

TEST_P(ListenerFacts, ADeferredClientHasWhatItsListenerIsWhenDataComes) {
  const int listening = listener();
  EXPECT_TRUE(world().setsockopt(listening, IPPROTO_TCP, TCP_DEFER_ACCEPT, 5).ok());
  const int peer = client(listening);
  EXPECT_TRUE(world().shutdown(listening, SHUT_RDWR).ok());
  EXPECT_EQ(ENOTCONN, world().shutdown(listening, SHUT_WR).error);
  EXPECT_TRUE(world().listen(listening, 8).ok());
  EXPECT_EQ(3, send(peer, 3));
  EXPECT_EQ(0, recv(peer)) << "the listener shut its sending side down before it listened again";
  EXPECT_EQ(3, recv(accept(listening)));
}

TEST_P(ListenerFacts, ADeferredClientShowsWhenDataCame) {
  const int listening = listener();
  EXPECT_TRUE(world().setsockopt(listening, IPPROTO_TCP, TCP_DEFER_ACCEPT, 5).ok());
  const int peer = client(listening);
  EXPECT_NE(0U, bits(peer) & EPOLLOUT) << "for the client it is connected";
  EXPECT_EQ(-EAGAIN, accept(listening));
  EXPECT_EQ(0U, bits(listening));
  EXPECT_EQ(3, send(peer, 3));
  EXPECT_EQ(1, world().accept_backlog(listening).value());
  EXPECT_EQ(3, recv(accept(listening)));
}

TEST_P(ListenerFacts, AcceptedInTheOrderInWhichTheyCame) {
  const int listening = listener();
  std::vector<int> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(client(listening));
  for (const int peer : clients) {
    sockaddr_storage name{};
    sockaddr_storage other{};
    EXPECT_TRUE(world().getsockname(peer, &name).ok());
    EXPECT_TRUE(world().getpeername(accept(listening), &other).ok());
    EXPECT_EQ(0, std::memcmp(&name, &other, sizeof(sockaddr_in)));
  }
}

TEST_P(ListenerFacts, ASocketOfBothFamiliesStandsInTheWayOfIpv4) {
  const int both = socket(AF_INET6);
  EXPECT_TRUE(world().setsockopt(both, IPPROTO_IPV6, IPV6_V6ONLY, 0).ok());
  EXPECT_TRUE(world().bind(both, ipv6(in6addr_any, 0), sizeof(sockaddr_in6)).ok());
  EXPECT_TRUE(world().listen(both, 8).ok());
  const int port = port_of(both);
  EXPECT_EQ(-EADDRINUSE, bound(ipv4(INADDR_ANY, port), false, false));
  const int peer = socket();
  EXPECT_EQ(EINPROGRESS, world().connect(peer, ipv4(INADDR_LOOPBACK, port), sizeof(sockaddr_in)).error);
  sockaddr_storage name{};
  EXPECT_TRUE(world().getpeername(accept(both), &name).ok());
  sockaddr_in6 in{};
  std::memcpy(&in, &name, sizeof in);
  EXPECT_NE(0, IN6_IS_ADDR_V4MAPPED(&in.sin6_addr));
  EXPECT_EQ(EINVAL, world().setsockopt(both, IPPROTO_IPV6, IPV6_V6ONLY, 1).error) << "too late";
}

TEST_P(ListenerFacts, ASocketOfIpv6AloneLeavesIpv4ToOthers) {
  int alone = -1;
  int port = 0;
  int other = -EADDRINUSE;
  // The kernel chose a port that is free for IPv6: somebody else may have it for IPv4. If this socket stood in the way,
  // no port would do.
  for (int ports = 0; ports < 20 && other == -EADDRINUSE; ++ports) {
    alone = socket(AF_INET6);
    EXPECT_TRUE(world().setsockopt(alone, IPPROTO_IPV6, IPV6_V6ONLY, 1).ok());
    EXPECT_TRUE(world().bind(alone, ipv6(in6addr_any, 0), sizeof(sockaddr_in6)).ok());
    EXPECT_TRUE(world().listen(alone, 8).ok());
    port = port_of(alone);
    other = bound(ipv4(INADDR_ANY, port), false, false);
  }
  ASSERT_GE(other, 0);
  EXPECT_TRUE(world().listen(other, 8).ok());
  const int peer = socket(AF_INET6);
  EXPECT_EQ(EINPROGRESS, world().connect(peer, ipv6(in6addr_loopback, port), sizeof(sockaddr_in6)).error);
  EXPECT_EQ(-EAGAIN, accept(other));
  EXPECT_GE(accept(alone), 0);
}

INSTANTIATE_TEST_SUITE_P(Kernel, ListenerFacts, ::testing::Values("real", "simulated"),
                         [](const auto& kernel) { return std::string(kernel.param); });

}  // namespace
}  // namespace flare::sim::conformance
