// kernel_world.h: the outside of a backend, for kernel_contract: clients, and looks at what the concept does not show.
//
// kernel_contract runs on every type in ContractKernels. A new backend adds itself there and gives a World of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "flare/base/unique_fd.h"
#include "flare/kernel/epoll_kernel.h"
#include "flare/net/socket_address.h"
#include "support/own_loopback.h"

namespace flare::testing {

template <class K>
struct World;

template <>
struct World<EpollKernel> {
  // A blocking client: its descriptor, or the errno of connect.
  static Result<int> connect(const SocketAddress& address) {
    const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, address.data(), address.length()) == 0) return Result<int>(fd);
    const int error = errno;
    ::close(fd);
    return Result<int>::failure(error);
  }
  static int duplicate(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }
  static bool nonblocking(int fd) { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }
  static bool close_on_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }
  static int option(int fd, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(fd, level, name, &value, &size) == 0 ? value : -errno;
  }
  // Fills a wake descriptor's counter to its greatest value.
  static void saturate(int fd) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - 1;
    EXPECT_EQ(static_cast<ssize_t>(sizeof most), ::write(fd, &most, sizeof most));
  }
};

using ContractKernels = ::testing::Types<EpollKernel>;

template <class K>
class KernelContract : public ::testing::Test {
 protected:
  using Outside = World<K>;

  static UniqueFd poller() { return UniqueFd(K::poller_open().value()); }
  static UniqueFd wake() { return UniqueFd(K::wake_open().value()); }
  static UniqueFd ready_wake() {
    UniqueFd fd = wake();
    EXPECT_TRUE(K::wake_signal(fd.get()).ok());
    return fd;
  }
  static std::vector<ReadyEvent> wait(const UniqueFd& poller, int max = 16, int timeout_ms = 0) {
    std::vector<ReadyEvent> events(static_cast<std::size_t>(max));
    const Result<int> count = K::poller_wait(poller.get(), events.data(), max, timeout_ms);
    events.resize(count.ok() ? static_cast<std::size_t>(count.value()) : 0);
    return events;
  }
  static bool add(const UniqueFd& poller, const UniqueFd& fd, std::uint64_t key, unsigned interest = kReadable) {
    return K::poller_add(poller.get(), fd.get(), key, interest, AddMode::kShared).ok();
  }
  static UniqueFd socket(int family = AF_INET) { return UniqueFd(K::socket_stream(family).value()); }
  static SocketAddress address_of(const UniqueFd& fd) {
    sockaddr_storage storage{};
    EXPECT_TRUE(K::local_address(fd.get(), &storage).ok());
    return SocketAddress::from_sockaddr(storage);
  }
  static int bind(const UniqueFd& fd, const SocketAddress& address) {
    return K::bind(fd.get(), address.data(), address.length()).error;
  }
  static UniqueFd listener(const SocketAddress& address = own_loopback()) {
    UniqueFd fd = socket(address.family());
    EXPECT_TRUE(K::set_reuse_address(fd.get()).ok());
    EXPECT_EQ(0, bind(fd, address));
    EXPECT_TRUE(K::listen(fd.get(), 16).ok());
    return fd;
  }
  // A client and the server's side of it.
  static std::pair<UniqueFd, UniqueFd> connection(const UniqueFd& listening) {
    UniqueFd client(Outside::connect(address_of(listening)).value());
    EXPECT_TRUE(K::wait_readable(listening.get(), 5000).value());
    return {std::move(client), UniqueFd(K::accept(listening.get()).value())};
  }
};

}  // namespace flare::testing
