// The simulated kernel by itself: two processes, choices, what oracles ask, and that it is deterministic.
#include "machine/machine.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace flare::sim {
namespace {

// Says always the same, if it is allowed; remembers what it was asked.
class Always final : public Chooser {
 public:
  unsigned choose(unsigned options, const char* what) override {
    asked.emplace_back(what);
    EXPECT_GE(options, 2U);
    return answer < options ? answer : options - 1;
  }
  unsigned answer = 0;
  std::vector<std::string> asked;
};

sockaddr_in loopback(int port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  in.sin_port = htons(static_cast<std::uint16_t>(port));
  return in;
}

class MachineTest : public ::testing::Test {
 protected:
  int listener(int port, bool share = false) {
    const int fd = machine.socket(kServer, AF_INET, SOCK_STREAM | SOCK_NONBLOCK).value();
    EXPECT_TRUE(machine.setsockopt(kServer, fd, SOL_SOCKET, SO_REUSEPORT, share ? 1 : 0).ok());
    const sockaddr_in address = loopback(port);
    EXPECT_TRUE(machine.bind(kServer, fd, reinterpret_cast<const sockaddr*>(&address), sizeof address).ok());
    EXPECT_TRUE(machine.listen(kServer, fd, 8).ok());
    return fd;
  }
  int client(int port) {
    const int fd = machine.socket(kWorld, AF_INET, SOCK_STREAM).value();
    const sockaddr_in address = loopback(port);
    EXPECT_TRUE(machine.connect(kWorld, fd, reinterpret_cast<const sockaddr*>(&address), sizeof address).ok());
    return fd;
  }
  int exclusive_set(int fd, std::uint64_t data) {
    const int ep = machine.epoll_create(kServer).value();
    EXPECT_TRUE(machine.epoll_ctl(kServer, ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE, data).ok());
    return ep;
  }

  Always chooser;
  Machine machine{chooser};
};

TEST_F(MachineTest, EachProcessHasItsOwnNumbers) {
  const int listening = listener(80);
  EXPECT_EQ(0, listening);
  EXPECT_EQ(0, client(80));
  EXPECT_EQ(1, client(80));
  EXPECT_EQ(1, machine.accept4(kServer, listening, SOCK_NONBLOCK).value());
  EXPECT_EQ(2, machine.open_count(kServer));
  EXPECT_EQ(2, machine.open_count(kWorld));
  machine.set_limit(kServer, 2);
  EXPECT_EQ(EMFILE, machine.accept4(kServer, listening, 0).error());
  EXPECT_EQ(2, machine.socket(kWorld, AF_INET, SOCK_STREAM).value()) << "a limit is of one process";
}

TEST_F(MachineTest, AGenerationIsNeverGivenTwice) {
  const int first = machine.eventfd(kServer, 0, EFD_NONBLOCK).value();
  const std::uint64_t before = machine.description_of(kServer, first);
  const int copy = machine.dup(kServer, first).value();
  EXPECT_EQ(before, machine.description_of(kServer, copy));
  EXPECT_TRUE(machine.close(kServer, first).ok());
  EXPECT_EQ(0U, machine.description_of(kServer, first));
  EXPECT_EQ(first, machine.eventfd(kServer, 0, EFD_NONBLOCK).value());
  EXPECT_NE(before, machine.description_of(kServer, first));
}

TEST_F(MachineTest, OraclesSeeConnectionsAndBytes) {
  const int listening = listener(80);
  const int peer = client(80);
  EXPECT_EQ(1U, machine.live_connections()) << "it waits for accept";
  const int served = machine.accept4(kServer, listening, 0).value();
  EXPECT_EQ(3U, machine.send(kWorld, peer, "abc", 3).value());
  EXPECT_EQ(3U, machine.bytes_in_flight());
  EXPECT_TRUE(machine.close(kWorld, peer).ok());
  EXPECT_EQ(1U, machine.live_connections()) << "the server still has it";
  char bytes[8];
  EXPECT_EQ(3U, machine.recv(kServer, served, bytes, sizeof bytes).value());
  EXPECT_EQ(0U, machine.bytes_in_flight());
  EXPECT_TRUE(machine.close(kServer, served).ok());
  EXPECT_EQ(0U, machine.live_connections());
  std::vector<OpenDescriptor> open;
  machine.list_open(kServer, open);
  ASSERT_EQ(1U, open.size());
  EXPECT_EQ(listening, open[0].fd);
  EXPECT_EQ(Kind::kSocket, open[0].kind);
}

TEST_F(MachineTest, SmallBuffersGiveShortCounts) {
  Sizes sizes;
  sizes.receive_bytes = 4;
  sizes.send_bytes = 3;
  machine.reset(sizes);
  const int listening = listener(80);
  const int peer = client(80);
  const int served = machine.accept4(kServer, listening, 0).value();
  EXPECT_EQ(7U, machine.send(kServer, served, "0123456789", 10).value());
  EXPECT_EQ(EAGAIN, machine.send(kServer, served, "7", 1).error());
  EXPECT_EQ(0U, machine.poll_bits(kServer, served).value() & EPOLLOUT);
  EXPECT_TRUE(machine.shutdown(kServer, served, SHUT_WR).ok());
  char bytes[16];
  EXPECT_EQ(4U, machine.recv(kWorld, peer, bytes, sizeof bytes).value()) << "what the reader's side holds";
  EXPECT_EQ(3U, machine.recv(kWorld, peer, bytes + 4, sizeof bytes - 4).value());
  EXPECT_EQ(0, std::memcmp(bytes, "0123456", 7));
  EXPECT_EQ(0U, machine.recv(kWorld, peer, bytes, sizeof bytes).value());
}

TEST_F(MachineTest, TheChooserDecidesWhichExclusiveSetComesFirst) {
  for (const unsigned answer : {0U, 1U, 2U}) {
    machine.reset();
    chooser.asked.clear();
    chooser.answer = answer;
    const int listening = listener(80);
    const int sets[] = {exclusive_set(listening, 0), exclusive_set(listening, 1), exclusive_set(listening, 2)};
    int waiters[3];
    for (int i = 0; i < 3; ++i) waiters[i] = machine.begin_wait(kServer, sets[i]).value();
    client(80);
    ASSERT_EQ((std::vector<std::string>{"exclusive waiter"}), chooser.asked);
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(i == answer, machine.woken(waiters[i]));
      EXPECT_EQ(i == answer, machine.epoll_has_ready(kServer, sets[i]));
      machine.end_wait(waiters[i]);
    }
  }
}

TEST_F(MachineTest, TheChooserDecidesWhichMemberOfAGroupGetsAConnection) {
  chooser.answer = 1;
  const int first = listener(80, true);
  const int second = listener(80, true);
  client(80);
  ASSERT_EQ((std::vector<std::string>{"reuseport member"}), chooser.asked);
  EXPECT_EQ(
      (std::vector<std::uint64_t>{machine.description_of(kServer, first), machine.description_of(kServer, second)}),
      machine.options());
  EXPECT_EQ(EAGAIN, machine.accept4(kServer, first, 0).error());
  EXPECT_TRUE(machine.accept4(kServer, second, 0).ok());
}

TEST_F(MachineTest, TheChooserDecidesTheOrderOfABatch) {
  chooser.answer = 2;
  const int ep = machine.epoll_create(kServer).value();
  for (std::uint64_t i = 0; i < 3; ++i) {
    const int fd = machine.eventfd(kServer, 1, EFD_NONBLOCK).value();
    EXPECT_TRUE(machine.epoll_ctl(kServer, ep, EPOLL_CTL_ADD, fd, EPOLLIN, i).ok());
  }
  epoll_event events[3];
  ASSERT_EQ(3, machine.epoll_take(kServer, ep, events, 3).value());
  EXPECT_EQ(2U, std::uint64_t{events[0].data.u64});
  EXPECT_EQ(0U, std::uint64_t{events[1].data.u64});
  EXPECT_EQ(1U, std::uint64_t{events[2].data.u64});
}

TEST_F(MachineTest, ASetLivesWhileSomebodyWaitsInIt) {
  const int ep = machine.epoll_create(kServer).value();
  const int fd = machine.eventfd(kServer, 0, EFD_NONBLOCK).value();
  EXPECT_TRUE(machine.epoll_ctl(kServer, ep, EPOLL_CTL_ADD, fd, EPOLLIN, 5).ok());
  const int waiter = machine.begin_wait(kServer, ep).value();
  EXPECT_TRUE(machine.close(kServer, ep).ok());
  EXPECT_TRUE(machine.eventfd_write(kServer, fd, 1).ok());
  EXPECT_TRUE(machine.woken(waiter));
  epoll_event event;
  EXPECT_EQ(1, machine.wait_take(waiter, &event, 1).value());
  machine.end_wait(waiter);
  EXPECT_EQ(fd, 1);
  EXPECT_EQ(ep, machine.epoll_create(kServer).value());
}

// A random walk; gives a hash of all that was answered.
std::uint64_t walk(Machine& machine, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uint64_t hash = 14695981039346656037U;
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
  const auto status = [&](Status result) { mix(static_cast<std::uint64_t>(result.error)); };
  const auto number = [&](const Result<int>& result) {
    mix(result.ok() ? static_cast<std::uint64_t>(result.value()) : 1000U + static_cast<std::uint64_t>(result.error()));
  };
  const sockaddr_in address = loopback(80);
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);
  for (int i = 0; i < 200; ++i) {
    const Process p = random() % 2;
    const auto fd = static_cast<int>(random() % 12);
    const auto other = static_cast<int>(random() % 12);
    char bytes[32] = {};
    epoll_event events[4];
    switch (random() % 12) {
      case 0:
        number(machine.socket(p, AF_INET, SOCK_STREAM | (random() % 2 == 0 ? 0 : SOCK_NONBLOCK)));
        break;
      case 1:
        number(machine.epoll_create(p));
        break;
      case 2:
        number(machine.eventfd(p, 1, EFD_NONBLOCK));
        break;
      case 3:
        status(machine.bind(p, fd, raw, sizeof address));
        break;
      case 4:
        status(machine.listen(p, fd, 1));
        break;
      case 5:
        number(machine.accept4(p, fd, 0));
        break;
      case 6:
        status(machine.connect(p, fd, raw, sizeof address));
        break;
      case 7:
        status(machine.epoll_ctl(p, fd, EPOLL_CTL_ADD, other, EPOLLIN | EPOLLOUT, random() % 100));
        break;
      case 8: {
        const Result<int> count = machine.epoll_take(p, fd, events, 4);
        number(count);
        for (int e = 0; count.ok() && e < count.value(); ++e) mix(events[e].data.u64 * 65536 + events[e].events);
        break;
      }
      case 9:
        mix(machine.send(p, fd, bytes, sizeof bytes).ok() ? 1 : 0);
        break;
      case 10:
        mix(machine.recv(p, fd, bytes, sizeof bytes).ok() ? 1 : 0);
        break;
      default:
        status(machine.close(p, fd));
        break;
    }
  }
  mix(machine.bytes_in_flight());
  mix(machine.live_connections());
  return hash;
}

TEST(Machine, TheSameCallsGiveTheSameFirstAndLast) {
  CalmChooser calm;
  constexpr std::uint64_t kWalks = 300;
  Machine used(calm);
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < kWalks; ++seed) {
    used.reset();
    hashes.push_back(walk(used, seed));
  }
  for (std::uint64_t seed = 0; seed < kWalks; ++seed) {
    Machine fresh(calm);
    EXPECT_EQ(hashes[seed], walk(fresh, seed)) << "seed " << seed;
  }
}

TEST_F(MachineTest, WhatIsHeldStaysUntilMoreOrTheEndComes) {
  const int listening = listener(80);
  const int near = client(80);
  const int far = machine.accept4(kServer, listening, SOCK_NONBLOCK).value();
  char got[8];
  EXPECT_EQ(1U, machine.send_held(kServer, far, "x", 1).value());
  EXPECT_EQ(EAGAIN, machine.recv(kWorld, near, got, sizeof got).error());
  EXPECT_TRUE(machine.shutdown(kServer, far, SHUT_WR).ok());
  EXPECT_EQ(1U, machine.recv(kWorld, near, got, sizeof got).value());
  EXPECT_EQ(0U, machine.recv(kWorld, near, got, sizeof got).value());
}

TEST_F(MachineTest, ACloseThatSendsWhatWasHeldToAGonePeerFreesItsSocketOnce) {
  const int listening = listener(80);
  const int near = client(80);
  const int far = machine.accept4(kServer, listening, SOCK_NONBLOCK).value();
  EXPECT_EQ(1U, machine.send_held(kServer, far, "x", 1).value());
  EXPECT_TRUE(machine.close(kWorld, near).ok());
  EXPECT_TRUE(machine.close(kServer, far).ok());
  const int one = client(80);
  const int two = client(80);
  EXPECT_EQ(1U, machine.send(kWorld, one, "1", 1).value());
  EXPECT_EQ(1U, machine.send(kWorld, two, "2", 1).value());
  for (const char wanted : {'1', '2'}) {
    char got = 0;
    const int served = machine.accept4(kServer, listening, SOCK_NONBLOCK).value();
    EXPECT_EQ(1U, machine.recv(kServer, served, &got, 1).value());
    EXPECT_EQ(wanted, got);
  }
}

}  // namespace
}  // namespace flare::sim
