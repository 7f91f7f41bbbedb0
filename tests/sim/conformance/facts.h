// facts.h: what the runtime relies on, said once and checked on both kernels.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/machine_world.h"
#include "conformance/real_world.h"

namespace flare::sim::conformance {

using Seen = std::vector<std::pair<std::uint64_t, std::uint32_t>>;  // data and bits

class Facts : public ::testing::TestWithParam<const char*> {
 protected:
  Facts() {
    if (std::string(GetParam()) == "real") {
      world_ = std::make_unique<RealWorld>();
    } else {
      world_ = std::make_unique<MachineWorld>(calm_);
    }
    world_->start(32);
  }

  World& world() { return *world_; }
  bool simulated() const { return std::string(GetParam()) != "real"; }

  int set() { return world().epoll_create(0).value(); }
  int add(int ep, int fd, std::uint32_t events, std::uint64_t data = 1) {
    return world().epoll_ctl(ep, EPOLL_CTL_ADD, fd, events, data).error;
  }
  Seen take(int ep, int most = 16) {
    std::vector<epoll_event> events(static_cast<std::size_t>(most));
    const int count = world().epoll_take(ep, events.data(), most).value();
    Seen seen;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const epoll_event event = events[i];  // packed, so its members are copied
      seen.emplace_back(std::uint64_t{event.data.u64}, std::uint32_t{event.events});
    }
    return seen;
  }
  int counter(unsigned initial = 0) { return world().eventfd(initial, EFD_NONBLOCK).value(); }
  void signal(int fd) {
    const std::uint64_t one = 1;
    EXPECT_TRUE(world().write(fd, &one, sizeof one).ok());
  }

  // An address that no other test has.
  sockaddr_storage address(int port = 0) const {
    const auto place = (static_cast<std::uint32_t>(::getpid()) * 2U + (simulated() ? 1U : 0U)) % 0xd0000U;
    return ipv4(0x7ff10000U + place, port);
  }
  static sockaddr_storage ipv4(std::uint32_t ip, int port) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(ip);
    in.sin_port = htons(static_cast<std::uint16_t>(port));
    sockaddr_storage out{};
    std::memcpy(&out, &in, sizeof in);
    return out;
  }
  static sockaddr_storage ipv6(const in6_addr& ip, int port) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_addr = ip;
    in.sin6_port = htons(static_cast<std::uint16_t>(port));
    sockaddr_storage out{};
    std::memcpy(&out, &in, sizeof in);
    return out;
  }
  int socket(int family = AF_INET) { return world().socket(family, SOCK_STREAM | SOCK_NONBLOCK).value(); }
  // A socket with these options, bound if it may: its number, or the error below 0.
  int bound(const sockaddr_storage& to, bool reuse_address, bool reuse_port) {
    const int fd = socket(to.ss_family);
    EXPECT_TRUE(world().setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, reuse_address ? 1 : 0).ok());
    EXPECT_TRUE(world().setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, reuse_port ? 1 : 0).ok());
    const Status status = world().bind(fd, to, to.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    if (status.ok()) return fd;
    EXPECT_TRUE(world().close(fd).ok());
    return -status.error;
  }
  int listener(int backlog = 8) {
    const int fd = bound(address(), true, false);
    EXPECT_TRUE(world().listen(fd, backlog).ok());
    return fd;
  }
  int port_of(int fd) {
    sockaddr_storage name{};
    EXPECT_TRUE(world().getsockname(fd, &name).ok());
    in_port_t port = 0;  // at the same place in both families
    std::memcpy(&port, reinterpret_cast<const char*>(&name) + offsetof(sockaddr_in, sin_port), sizeof port);
    return ntohs(port);
  }
  int connect(int fd, int listener) {
    sockaddr_storage name{};
    EXPECT_TRUE(world().getsockname(listener, &name).ok());
    return world().connect(fd, name, sizeof(sockaddr_in)).error;
  }
  int client(int listener) {
    const int fd = socket();
    EXPECT_EQ(EINPROGRESS, connect(fd, listener));
    return fd;
  }
  int accept(int listener) {
    const Result<int> fd = world().accept4(listener, SOCK_NONBLOCK);
    return fd.ok() ? fd.value() : -fd.error();
  }
  int error_of(int fd) { return world().getsockopt(fd, SOL_SOCKET, SO_ERROR).value(); }
  unsigned bits(int fd) { return world().poll_bits(fd).value(); }
  // What was read, or the error below 0.
  std::int64_t recv(int fd, std::size_t size = 64) {
    std::vector<char> bytes(size);
    const Result<std::size_t> count = world().recv(fd, bytes.data(), size);
    return count.ok() ? static_cast<std::int64_t>(count.value()) : -count.error();
  }
  std::int64_t send(int fd, std::size_t size = 1) {
    const std::vector<char> bytes(size, 'x');
    const Result<std::size_t> count = world().send(fd, bytes.data(), size);
    return count.ok() ? static_cast<std::int64_t>(count.value()) : -count.error();
  }

 private:
  CalmChooser calm_;
  std::unique_ptr<World> world_;
};

}  // namespace flare::sim::conformance
