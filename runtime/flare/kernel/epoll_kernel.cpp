#include "flare/kernel/epoll_kernel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "flare/kernel/epoll_bits.h"

namespace flare::inline FLARE_ABI {

namespace {

// Each wraps a call in place, so that nothing runs between it and the reading of errno.
Status status_of(int result) {
  return Status{result < 0 ? errno : 0};
}
Result<int> number_of(int result) {
  return result < 0 ? Result<int>::failure(errno) : Result<int>(result);
}
Result<std::size_t> count_of(ssize_t result) {
  if (result < 0) return Result<std::size_t>::failure(errno);
  return Result<std::size_t>(static_cast<std::size_t>(result));
}

Status set_option(int fd, int level, int name, int value) {
  return status_of(::setsockopt(fd, level, name, &value, sizeof value));
}

Status control(int poller, int operation, int fd, std::uint64_t key, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  return status_of(::epoll_ctl(poller, operation, fd, &event));
}

}  // namespace

Result<int> EpollKernel::poller_open() {
  return number_of(::epoll_create1(EPOLL_CLOEXEC));
}

Status EpollKernel::poller_add(int poller, int fd, std::uint64_t key, unsigned interest, AddMode mode) {
  return control(poller, EPOLL_CTL_ADD, fd, key, events_of(interest, mode == AddMode::kExclusive));
}

Status EpollKernel::poller_modify(int poller, int fd, std::uint64_t key, unsigned interest) {
  return control(poller, EPOLL_CTL_MOD, fd, key, events_of(interest, false));
}

Status EpollKernel::poller_remove(int poller, int fd) {
  return control(poller, EPOLL_CTL_DEL, fd, 0, 0);
}

Result<int> EpollKernel::poller_wait(int poller, ReadyEvent* out, int max, int timeout_ms) {
  // The kernel's records go into the caller's buffer and are widened in place, the last one first: a widened record
  // never reaches one that was not read yet. So there is no second buffer and no bound of our own.
  static_assert(sizeof(epoll_event) <= sizeof(ReadyEvent) && alignof(epoll_event) <= alignof(ReadyEvent));
  const Result<int> ready = number_of(::epoll_wait(poller, reinterpret_cast<epoll_event*>(out), max, timeout_ms));
  if (!ready.ok()) return ready;
  const auto* raw = reinterpret_cast<const unsigned char*>(out);
  for (std::size_t i = static_cast<std::size_t>(ready.value()); i-- > 0;) {
    epoll_event event;
    std::memcpy(&event, raw + i * sizeof event, sizeof event);
    out[i] = ReadyEvent{event.data.u64, bits_of(event.events)};
  }
  return ready;
}

Result<int> EpollKernel::wake_open() {
  return number_of(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

Status EpollKernel::wake_signal(int fd) {
  // A signal handler may call this between a failed call and the reading of its errno.
  const int before = errno;
  const std::uint64_t one = 1;
  const Status status = status_of(static_cast<int>(::write(fd, &one, sizeof one)));
  errno = before;
  return status;
}

Status EpollKernel::wake_clear(int fd) {
  std::uint64_t count = 0;
  return status_of(static_cast<int>(::read(fd, &count, sizeof count)));
}

Result<bool> EpollKernel::wait_readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  const Result<int> ready = number_of(::poll(&entry, 1, timeout_ms));
  return ready.ok() ? Result<bool>(ready.value() > 0) : Result<bool>::failure(ready.error());
}

Result<int> EpollKernel::socket_stream(int family) {
  return number_of(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

Status EpollKernel::set_reuse_address(int fd) {
  return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
}

Status EpollKernel::set_reuse_port(int fd) {
  return set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
}

Status EpollKernel::set_v6_only(int fd, bool on) {
  return set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, on ? 1 : 0);
}

Status EpollKernel::set_nodelay(int fd) {
  return set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

Status EpollKernel::set_defer_accept(int fd, int seconds) {
  return set_option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, seconds);
}

// Of a listening socket tcpi_unacked is the length of its accept queue.
Result<int> EpollKernel::accept_backlog(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return Result<int>::failure(errno);
  return static_cast<int>(info.tcpi_unacked);
}

Status EpollKernel::bind(int fd, const sockaddr* address, socklen_t length) {
  return status_of(::bind(fd, address, length));
}

Status EpollKernel::listen(int fd, int backlog) {
  return status_of(::listen(fd, backlog));
}

Status EpollKernel::local_address(int fd, sockaddr_storage* out) {
  socklen_t length = sizeof *out;
  return status_of(::getsockname(fd, reinterpret_cast<sockaddr*>(out), &length));
}

Status EpollKernel::peer_address(int fd, sockaddr_storage* out) {
  socklen_t length = sizeof *out;
  return status_of(::getpeername(fd, reinterpret_cast<sockaddr*>(out), &length));
}

Result<int> EpollKernel::accept(int fd) {
  return number_of(::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

Status EpollKernel::disable_listener(int fd) {
  return status_of(::shutdown(fd, SHUT_RDWR));
}

Status EpollKernel::shutdown_write(int fd) {
  return status_of(::shutdown(fd, SHUT_WR));
}

Result<std::size_t> EpollKernel::recv(int fd, void* buffer, std::size_t size) {
  return count_of(::recv(fd, buffer, size, 0));
}

Result<std::size_t> EpollKernel::send(int fd, const void* data, std::size_t size) {
  return count_of(::send(fd, data, size, MSG_NOSIGNAL));
}

Result<std::size_t> EpollKernel::send_held(int fd, const void* data, std::size_t size) {
  return count_of(::send(fd, data, size, MSG_NOSIGNAL | MSG_MORE));
}

Result<std::size_t> EpollKernel::send_parts(int fd, const iovec* parts, int count) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);  // sendmsg(2) only reads it
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
  return count_of(::sendmsg(fd, &message, MSG_NOSIGNAL));
}

Status EpollKernel::close(int fd) {
  return status_of(::close(fd));
}

}  // namespace flare::inline FLARE_ABI
