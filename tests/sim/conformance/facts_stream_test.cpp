// How connections end and how they fill, on both kernels.
#include <algorithm>

#include "conformance/facts.h"

namespace flare::sim::conformance {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;
constexpr std::uint32_t kIn = EPOLLIN | EPOLLRDNORM;
constexpr std::uint32_t kOut = EPOLLOUT | EPOLLWRNORM;

class StreamFacts : public Facts {
 protected:
  StreamFacts() : listening(listener()), peer(client(listening)), served(accept(listening)) {}

  std::size_t fill(int fd) {
    std::size_t sent = 0;
    for (;;) {
      const std::int64_t count = send(fd, kPiece);
      if (count < 0) {
        EXPECT_EQ(-EAGAIN, count);
        return sent;
      }
      sent += static_cast<std::size_t>(count);
    }
  }
  // Reads so much; what is on its way comes while it reads.
  void drain(int fd, std::size_t size) {
    while (size > 0) {
      const std::int64_t count = recv(fd, std::min(size, kPiece));
      if (count == -EAGAIN) continue;
      ASSERT_GT(count, 0);
      size -= static_cast<std::size_t>(count);
    }
  }

  int listening;
  int peer;
  int served;
};

TEST_P(StreamFacts, CloseIsAnEndOfFile) {
  EXPECT_TRUE(world().close(served).ok());
  EXPECT_EQ(0, recv(peer));
  EXPECT_EQ(kIn | kOut | EPOLLRDHUP, bits(peer));
}

TEST_P(StreamFacts, CloseWithUnreadInputIsAReset) {
  EXPECT_EQ(1, send(peer));
  EXPECT_EQ(1, send(served)) << "an answer that the client did not read";
  EXPECT_TRUE(world().close(served).ok());
  EXPECT_EQ(kIn | kOut | EPOLLRDHUP | EPOLLHUP | EPOLLERR, bits(peer));
  EXPECT_EQ(1, recv(peer)) << "what had arrived is there";
  EXPECT_EQ(-ECONNRESET, recv(peer));
  EXPECT_EQ(0, recv(peer));
}

TEST_P(StreamFacts, ALingerOfZeroIsAReset) {
  EXPECT_TRUE(world().set_linger(served, true, 0).ok());
  EXPECT_TRUE(world().close(served).ok());
  EXPECT_EQ(-ECONNRESET, recv(peer));
}

TEST_P(StreamFacts, DataForAClosedSideIsAReset) {
  EXPECT_TRUE(world().close(served).ok());
  EXPECT_EQ(1, send(peer));
  EXPECT_EQ(kIn | kOut | EPOLLRDHUP | EPOLLHUP | EPOLLERR, bits(peer));
  EXPECT_EQ(0, recv(peer)) << "the end of file came first";
  EXPECT_EQ(-EPIPE, send(peer));
}

TEST_P(StreamFacts, HalfClosedReadsOn) {
  EXPECT_TRUE(world().shutdown(peer, SHUT_WR).ok());
  EXPECT_EQ(0, recv(served));
  EXPECT_EQ(kIn | kOut | EPOLLRDHUP, bits(served));
  EXPECT_EQ(1, send(served));
  EXPECT_EQ(1, recv(peer));
  EXPECT_EQ(-EPIPE, send(peer));
  EXPECT_TRUE(world().shutdown(served, SHUT_WR).ok());
  EXPECT_EQ(kIn | kOut | EPOLLRDHUP | EPOLLHUP, bits(served));
  EXPECT_EQ(kIn | kOut | EPOLLRDHUP | EPOLLHUP, bits(peer));
}

TEST_P(StreamFacts, TheEndOfFileComesBehindWhatThereIsNoRoomFor) {
  const std::size_t sent = fill(served);
  EXPECT_TRUE(world().shutdown(served, SHUT_WR).ok());
  EXPECT_EQ(0U, bits(peer) & EPOLLRDHUP);
  drain(peer, sent);
  while (recv(peer) == -EAGAIN) continue;
  EXPECT_EQ(0, recv(peer));
}

TEST_P(StreamFacts, RoomIsToldToWhomeverWantsToKnow) {
  const int ep = set();
  EXPECT_EQ(0, add(ep, served, EPOLLOUT | EPOLLET));
  EXPECT_EQ((Seen{{1, EPOLLOUT}}), take(ep));
  const std::size_t sent = fill(served);
  EXPECT_EQ(0U, bits(served) & EPOLLOUT);
  EXPECT_EQ(Seen{}, take(ep));
  drain(peer, sent);
  while ((bits(served) & EPOLLOUT) == 0) continue;
  EXPECT_EQ((Seen{{1, EPOLLOUT}}), take(ep));
}

TEST_P(StreamFacts, APairTellsOfRoomToo) {
  int ends[2];
  ASSERT_TRUE(world().socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, ends).ok());
  const int ep = set();
  EXPECT_EQ(0, add(ep, ends[0], EPOLLOUT | EPOLLET));
  EXPECT_EQ((Seen{{1, EPOLLOUT}}), take(ep));
  const std::size_t sent = fill(ends[0]);
  EXPECT_EQ(0U, bits(ends[0]));
  EXPECT_EQ(Seen{}, take(ep));
  drain(ends[1], sent);
  EXPECT_EQ((Seen{{1, EPOLLOUT}}), take(ep));
}

TEST_P(StreamFacts, APairThatIsClosedWithUnreadInputIsReset) {
  int ends[2];
  ASSERT_TRUE(world().socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, ends).ok());
  EXPECT_EQ(1, send(ends[0]));
  EXPECT_TRUE(world().close(ends[1]).ok());
  EXPECT_EQ(kIn | kOut | EPOLLWRBAND | EPOLLRDHUP | EPOLLHUP | EPOLLERR, bits(ends[0]));
  EXPECT_EQ(-EPIPE, send(ends[0]));
  EXPECT_EQ(-ECONNRESET, recv(ends[0]));
  EXPECT_EQ(0, recv(ends[0]));
}

TEST_P(StreamFacts, AConnectThatBlocksKnowsTheAnswer) {
  const int first = world().socket(AF_INET, SOCK_STREAM).value();
  EXPECT_EQ(0, connect(first, listening));
  EXPECT_EQ(EISCONN, connect(first, listening));
  const int second = world().socket(AF_INET, SOCK_STREAM).value();
  EXPECT_EQ(ECONNREFUSED, world().connect(second, address(9), sizeof(sockaddr_in)).error);
}

TEST_P(StreamFacts, TheSameTwoEndsHaveOneConnection) {
  const int first = bound(address(), true, false);
  const int second = bound(address(port_of(first)), true, false);
  ASSERT_GE(second, 0);
  EXPECT_EQ(EINPROGRESS, connect(first, listening));
  EXPECT_EQ(EADDRNOTAVAIL, connect(second, listening));
}

INSTANTIATE_TEST_SUITE_P(Kernel, StreamFacts, ::testing::Values("real", "simulated"),
                         [](const auto& kernel) { return std::string(kernel.param); });

}  // namespace
}  // namespace flare::sim::conformance
