#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>

#include "conformance/real_world.h"

namespace flare::sim::conformance {

namespace {

constexpr short kAll = POLLIN | POLLPRI | POLLOUT | POLLRDHUP | POLLRDNORM | POLLRDBAND | POLLWRNORM | POLLWRBAND;

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

const sockaddr* raw(const sockaddr_storage& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Status RealWorld::close(int fd) {
  const Status status = status_of(::close(real(fd)));
  settle();
  return status;
}

Result<int> RealWorld::dup(int fd) {
  const Result<int> copy = number_of(::dup(real(fd)));
  return copy.ok() ? Result<int>(copy.value() - kBase) : copy;
}

Result<int> RealWorld::epoll_create(int flags) {
  const Result<int> fd = number_of(::epoll_create1(flags));
  return fd.ok() ? Result<int>(fd.value() - kBase) : fd;
}

Status RealWorld::epoll_ctl(int ep, int op, int fd, std::uint32_t events, std::uint64_t data) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = data;
  return status_of(::epoll_ctl(real(ep), op, real(fd), &event));
}

Result<int> RealWorld::epoll_take(int ep, epoll_event* events, int max) {
  return number_of(::epoll_wait(real(ep), events, max, 0));
}

Result<int> RealWorld::eventfd(unsigned initial, int flags) {
  const Result<int> fd = number_of(::eventfd(initial, flags));
  return fd.ok() ? Result<int>(fd.value() - kBase) : fd;
}

Result<std::size_t> RealWorld::read(int fd, void* out, std::size_t size) {
  const Result<std::size_t> count = count_of(::read(real(fd), out, size));
  settle();
  return count;
}

Result<std::size_t> RealWorld::write(int fd, const void* data, std::size_t size) {
  const Result<std::size_t> count = count_of(::write(real(fd), data, size));
  settle();
  return count;
}

Result<int> RealWorld::socket(int family, int type) {
  const Result<int> fd = number_of(::socket(family, type, 0));
  if (!fd.ok()) return fd;
  const int on = 1;
  ::setsockopt(fd.value(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A connect that would block for a second fails before, with EINPROGRESS.
  const timeval limit{0, 1000};
  ::setsockopt(fd.value(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const timeval at_once{0, 1};
  ::setsockopt(fd.value(), SOL_SOCKET, SO_RCVTIMEO, &at_once, sizeof at_once);
  return fd.value() - kBase;
}

Status RealWorld::socketpair(int family, int type, int out[2]) {
  const Status status = status_of(::socketpair(family, type, 0, out));
  for (int i = 0; i < 2 && status.ok(); ++i) out[i] -= kBase;
  return status;
}

Status RealWorld::setsockopt(int fd, int level, int name, int value) {
  return status_of(::setsockopt(real(fd), level, name, &value, sizeof value));
}

Status RealWorld::set_linger(int fd, bool on, int seconds) {
  const linger value{on ? 1 : 0, seconds};
  return status_of(::setsockopt(real(fd), SOL_SOCKET, SO_LINGER, &value, sizeof value));
}

Result<int> RealWorld::getsockopt(int fd, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  const Status status = status_of(::getsockopt(real(fd), level, name, &value, &length));
  return status.ok() ? Result<int>(value) : Result<int>::failure(status.error);
}

Result<int> RealWorld::accept_backlog(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  const Status status = status_of(::getsockopt(real(fd), IPPROTO_TCP, TCP_INFO, &info, &length));
  if (!status.ok()) return Result<int>::failure(status.error);
  return info.tcpi_state == TCP_LISTEN ? static_cast<int>(info.tcpi_unacked) : 0;
}

Status RealWorld::bind(int fd, const sockaddr_storage& address, socklen_t length) {
  return status_of(::bind(real(fd), raw(address), length));
}

Status RealWorld::listen(int fd, int backlog) {
  return status_of(::listen(real(fd), backlog));
}

Result<int> RealWorld::accept4(int fd, int flags) {
  const Result<int> child = number_of(::accept4(real(fd), nullptr, nullptr, flags));
  return child.ok() ? Result<int>(child.value() - kBase) : child;
}

Status RealWorld::connect(int fd, const sockaddr_storage& address, socklen_t length) {
  const Status status = status_of(::connect(real(fd), raw(address), length));
  settle();
  return status;
}

Status RealWorld::getsockname(int fd, sockaddr_storage* out) {
  *out = sockaddr_storage{};
  socklen_t length = sizeof *out;
  return status_of(::getsockname(real(fd), reinterpret_cast<sockaddr*>(out), &length));
}

Status RealWorld::getpeername(int fd, sockaddr_storage* out) {
  *out = sockaddr_storage{};
  socklen_t length = sizeof *out;
  return status_of(::getpeername(real(fd), reinterpret_cast<sockaddr*>(out), &length));
}

Status RealWorld::shutdown(int fd, int how) {
  const Status status = status_of(::shutdown(real(fd), how));
  settle();
  return status;
}

Result<std::size_t> RealWorld::recv(int fd, void* out, std::size_t size) {
  const Result<std::size_t> count = count_of(::recv(real(fd), out, size, MSG_DONTWAIT));
  settle();
  return count;
}

Result<std::size_t> RealWorld::send(int fd, const void* data, std::size_t size) {
  const Result<std::size_t> count = count_of(::send(real(fd), data, size, MSG_NOSIGNAL | MSG_DONTWAIT));
  settle();
  return count;
}

Result<std::size_t> RealWorld::sendmsg(int fd, const iovec* parts, int count) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
  const Result<std::size_t> sent = count_of(::sendmsg(real(fd), &message, MSG_NOSIGNAL | MSG_DONTWAIT));
  settle();
  return sent;
}

Result<unsigned> RealWorld::poll_bits(int fd) {
  pollfd entry{real(fd), kAll, 0};
  if (fd < 0) return Result<unsigned>::failure(EBADF);
  if (::poll(&entry, 1, 0) < 0) return Result<unsigned>::failure(errno);
  if ((entry.revents & POLLNVAL) != 0) return Result<unsigned>::failure(EBADF);
  return static_cast<unsigned>(entry.revents);
}

}  // namespace flare::sim::conformance
