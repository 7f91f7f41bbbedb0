// kernel_contract, third part: sockets.
#include <array>
#include <string>
#include <vector>

#include "kernel_world.h"

namespace flare::testing {
namespace {

template <class K>
class KernelSocket : public KernelContract<K> {
 protected:
  UniqueFd bindable(bool reuse_port) {
    UniqueFd fd = this->socket();
    EXPECT_TRUE(K::set_reuse_address(fd.get()).ok());
    if (reuse_port) {
      EXPECT_TRUE(K::set_reuse_port(fd.get()).ok());
    }
    return fd;
  }
};
TYPED_TEST_SUITE(KernelSocket, ContractKernels);

// field-bugs C15, mutant F03
// proves: C-NET-04
TYPED_TEST(KernelSocket, EverySocketIsNonBlockingAndCloseOnExec) {
  const UniqueFd listening = this->listener();
  EXPECT_EQ(EAGAIN, TypeParam::accept(listening.get()).error());
  const auto [client, server] = this->connection(listening);
  for (const int fd : {listening.get(), server.get()}) {
    EXPECT_TRUE(TestFixture::Outside::nonblocking(fd));
    EXPECT_TRUE(TestFixture::Outside::close_on_exec(fd));
  }
  std::array<char, 8> buffer{};
  EXPECT_EQ(EAGAIN, TypeParam::recv(server.get(), buffer.data(), buffer.size()).error());
}

// proves: C-NET-04
TYPED_TEST(KernelSocket, AnAcceptedSocketInheritsNoDelay) {
  const UniqueFd listening = this->socket();
  ASSERT_TRUE(TypeParam::set_nodelay(listening.get()).ok());
  ASSERT_EQ(0, this->bind(listening, own_loopback()));
  ASSERT_TRUE(TypeParam::listen(listening.get(), 4).ok());
  const auto [client, server] = this->connection(listening);
  EXPECT_EQ(1, TestFixture::Outside::option(server.get(), IPPROTO_TCP, TCP_NODELAY));
}

// Decision 7: what a donor asks about its peer.
// proves: C-ACCEPT-08
TYPED_TEST(KernelSocket, TheAcceptBacklogCountsTheClientsThatWait) {
  const UniqueFd listening = this->listener();
  EXPECT_EQ(0, TypeParam::accept_backlog(listening.get()).value());
  {
    const auto [client, server] = this->connection(listening);
    EXPECT_EQ(0, TypeParam::accept_backlog(listening.get()).value());
  }
  const UniqueFd first(TestFixture::Outside::connect(this->address_of(listening)).value());
  EXPECT_EQ(1, TypeParam::accept_backlog(listening.get()).value());
  const UniqueFd second(TestFixture::Outside::connect(this->address_of(listening)).value());
  EXPECT_EQ(2, TypeParam::accept_backlog(listening.get()).value());
}

// Decision 20: after this no client waits, and none gets in.
TYPED_TEST(KernelSocket, ADisabledListenerRefusesClientsAndKeepsItsNumber) {
  const UniqueFd listening = this->listener();
  const SocketAddress address = this->address_of(listening);
  const auto [client, server] = this->connection(listening);
  ASSERT_TRUE(TypeParam::disable_listener(listening.get()).ok());
  EXPECT_EQ(ECONNREFUSED, TestFixture::Outside::connect(address).error());
  EXPECT_EQ(EINVAL, TypeParam::accept(listening.get()).error());
  EXPECT_EQ(ENOTCONN, TypeParam::disable_listener(listening.get()).error);
  EXPECT_NE(listening.get(), this->wake().get());
  // What was accepted before goes on.
  EXPECT_EQ(2U, TypeParam::send(server.get(), "ok", 2).value());
}

// Decision 20: whoever still holds it in a poller hears of it at once; so unregister first.
TYPED_TEST(KernelSocket, ADisabledListenerIsNotSilentInAPoller) {
  const UniqueFd listening = this->listener();
  const UniqueFd poller = this->poller();
  ASSERT_TRUE(this->add(poller, listening, 1));
  ASSERT_TRUE(TypeParam::disable_listener(listening.get()).ok());
  const auto events = this->wait(poller);
  ASSERT_EQ(1U, events.size());
  EXPECT_NE(0U, events[0].bits & kHangup);
}

// Decision 17: SO_REUSEADDR never lets two listen, and a disabled listener is in nobody's way, though it is open.
TYPED_TEST(KernelSocket, APortIsBusyWhileSomebodyListensAndFreeOnceDisabled) {
  const UniqueFd old = this->listener();
  const SocketAddress address = this->address_of(old);
  EXPECT_EQ(EADDRINUSE, this->bind(this->bindable(false), address));
  EXPECT_EQ(EADDRINUSE, this->bind(this->bindable(true), address));
  ASSERT_TRUE(TypeParam::disable_listener(old.get()).ok());
  for (const bool reuse_port : {false, true}) {
    const UniqueFd next = this->bindable(reuse_port);
    ASSERT_EQ(0, this->bind(next, address));
    EXPECT_TRUE(TypeParam::listen(next.get(), 4).ok());
    EXPECT_TRUE(TypeParam::disable_listener(next.get()).ok());
  }
}

// Decision 17: among sockets with SO_REUSEPORT a busy port does not show; a socket without it finds it.
TYPED_TEST(KernelSocket, ReusePortHidesABusyPortAndAProbeFindsIt) {
  const UniqueFd first = this->bindable(true);
  ASSERT_EQ(0, this->bind(first, own_loopback()));
  const SocketAddress address = this->address_of(first);
  ASSERT_TRUE(TypeParam::listen(first.get(), 4).ok());
  const UniqueFd second = this->bindable(true);
  EXPECT_EQ(0, this->bind(second, address));
  EXPECT_TRUE(TypeParam::listen(second.get(), 4).ok());
  EXPECT_EQ(EADDRINUSE, this->bind(this->bindable(false), address));
}

// Decision 17: the probe may stay bound while the group binds and listens.
TYPED_TEST(KernelSocket, AProbeThatDoesNotListenIsInNobodysWay) {
  const UniqueFd probe = this->bindable(false);
  ASSERT_EQ(0, this->bind(probe, own_loopback()));
  const SocketAddress address = this->address_of(probe);
  ASSERT_NE(0, address.port());
  for (int i = 0; i < 3; ++i) {
    const UniqueFd member = this->bindable(true);
    ASSERT_EQ(0, this->bind(member, address));
    EXPECT_TRUE(TypeParam::listen(member.get(), 4).ok());
  }
}

TYPED_TEST(KernelSocket, WritesToAGonePeerFailWithoutASignal) {
  const UniqueFd listening = this->listener();
  auto [client, server] = this->connection(listening);
  client.reset();
  ASSERT_TRUE(TypeParam::wait_readable(server.get(), 5000).value());
  int error = 0;
  for (int i = 0; i < 1000 && error != EPIPE; ++i) error = TypeParam::send(server.get(), "x", 1).error();
  EXPECT_EQ(EPIPE, error);
  const iovec part{const_cast<char*>("x"), 1};
  EXPECT_EQ(EPIPE, TypeParam::send_parts(server.get(), &part, 1).error());
}

// Of a stream until its end.
template <class Kernel>
std::string all_of(int fd) {
  std::string got;
  std::array<char, 16> buffer{};
  for (;;) {
    EXPECT_TRUE(Kernel::wait_readable(fd, 5000).value());
    const std::size_t size = Kernel::recv(fd, buffer.data(), buffer.size()).value();
    if (size == 0) return got;
    got.append(buffer.data(), size);
  }
}

TYPED_TEST(KernelSocket, SendsPartsInOrderAndEndsTheStream) {
  const UniqueFd listening = this->listener();
  const auto [client, server] = this->connection(listening);
  std::string head = "head ";
  std::string body = "body";
  const std::array<iovec, 2> parts{iovec{head.data(), head.size()}, iovec{body.data(), body.size()}};
  ASSERT_EQ(9U, TypeParam::send_parts(server.get(), parts.data(), 2).value());
  ASSERT_TRUE(TypeParam::shutdown_write(server.get()).ok());
  EXPECT_EQ("head body", all_of<TypeParam>(client.get()));
}

TYPED_TEST(KernelSocket, WhatIsHeldComesWithWhatFollowsIt) {
  const UniqueFd listening = this->listener();
  const auto [client, server] = this->connection(listening);
  ASSERT_EQ(2U, TypeParam::send_held(server.get(), "a ", 2).value());
  ASSERT_EQ(2U, TypeParam::send_held(server.get(), "b ", 2).value());
  ASSERT_EQ(2U, TypeParam::send(server.get(), "c ", 2).value());
  ASSERT_EQ(2U, TypeParam::send_held(server.get(), "d ", 2).value());
  ASSERT_TRUE(TypeParam::shutdown_write(server.get()).ok());
  EXPECT_EQ("a b c d ", all_of<TypeParam>(client.get()));
  EXPECT_EQ(EPIPE, TypeParam::send_held(server.get(), "x", 1).error());
}

TYPED_TEST(KernelSocket, WhatIsTakenInPartDoesNotStandBack) {
  const UniqueFd listening = this->listener();
  const auto [client, server] = this->connection(listening);
  const std::string piece(1 << 20, 'x');
  std::size_t taken = 0;
  for (std::size_t last = piece.size(); last == piece.size(); taken += last) {
    last = TypeParam::send_held(server.get(), piece.data(), piece.size()).value();
  }
  std::size_t got = 0;
  std::vector<char> buffer(piece.size());
  while (got < taken) {
    ASSERT_TRUE(TypeParam::wait_readable(client.get(), 5000).value()) << got << " of " << taken;
    got += TypeParam::recv(client.get(), buffer.data(), buffer.size()).value();
  }
}

TYPED_TEST(KernelSocket, WhatIsHeldComesWithACloseWhereAllWasRead) {
  const UniqueFd listening = this->listener();
  auto [client, server] = this->connection(listening);
  ASSERT_EQ(1U, TypeParam::send_held(server.get(), "x", 1).value());
  server.reset();
  EXPECT_EQ("x", all_of<TypeParam>(client.get()));
}

TYPED_TEST(KernelSocket, KnowsBothEndsOfAConnection) {
  const UniqueFd listening = this->listener();
  const auto [client, server] = this->connection(listening);
  sockaddr_storage peer{};
  ASSERT_TRUE(TypeParam::peer_address(server.get(), &peer).ok());
  EXPECT_EQ(this->address_of(client), SocketAddress::from_sockaddr(peer));
  EXPECT_EQ(ENOTCONN, TypeParam::peer_address(listening.get(), &peer).error);
}

TYPED_TEST(KernelSocket, AClosedNumberIsBad) {
  const int number = this->socket().get();
  EXPECT_EQ(EBADF, TypeParam::close(number).error);
  EXPECT_EQ(EBADF, TypeParam::accept(number).error());
  EXPECT_EQ(EBADF, TypeParam::listen(number, 1).error);
  EXPECT_EQ(EAFNOSUPPORT, TypeParam::socket_stream(-1).error());
}

}  // namespace
}  // namespace flare::testing
