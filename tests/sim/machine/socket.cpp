#include <netinet/tcp.h>

#include <cerrno>

#include "machine/machine.h"

namespace flare::sim {

int Machine::take_socket(int family) {
  const int index = sockets_.take();
  Socket& socket = sockets_[index];
  socket.alive = true;
  socket.family = family;
  if (family != AF_UNIX) {
    socket.local = any_address(family);
    socket.remote = any_address(family);
  }
  return index;
}

void Machine::free_socket(int index) {
  Socket& socket = sockets_[index];
  if (socket.peer != kNone && sockets_[socket.peer].peer == index) sockets_[socket.peer].peer = kNone;
  if (socket.state == TcpState::kSynSent || socket.state == TcpState::kDeferred) unstall(index);
  // Deferred clients outlive their listener; the next socket with this number is not theirs.
  for (const int waiting : stalled_) {
    if (sockets_[waiting].listener == index) sockets_[waiting].listener = kNone;
  }
  socket.alive = false;
  socket.owned = 0;
  sockets_.give(index);
}

Result<int> Machine::socket(Process p, int family, int type) {
  const int flags = type & ~SOCK_STREAM;
  if ((flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0) return Result<int>::failure(EINVAL);
  if (family != AF_INET && family != AF_INET6) return Result<int>::failure(EAFNOSUPPORT);
  if (tables_[p].lowest_free() == kNone) return Result<int>::failure(EMFILE);
  const bool nonblocking = (flags & SOCK_NONBLOCK) != 0;
  return open(p, Kind::kSocket, take_socket(family), nonblocking, (flags & SOCK_CLOEXEC) != 0);
}

Status Machine::socketpair(Process p, int family, int type, int out[2]) {
  const int flags = type & ~SOCK_STREAM;
  if ((flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0) return Status{EINVAL};
  const int first = tables_[p].lowest_free();
  if (first == kNone) return Status{EMFILE};
  tables_[p].put(first, kNone, false);  // both numbers must be free before anything is made
  const bool room = tables_[p].lowest_free() != kNone;
  tables_[p].remove(first);
  if (!room) return Status{EMFILE};
  if (family != AF_UNIX) return Status{EOPNOTSUPP};
  const int ends[2] = {take_socket(AF_UNIX), take_socket(AF_UNIX)};
  for (int i = 0; i < 2; ++i) {
    Socket& socket = sockets_[ends[i]];
    socket.state = TcpState::kEstablished;
    socket.association = Association::kConnected;
    socket.peer = ends[1 - i];
    out[i] = open(p, Kind::kSocket, ends[i], (flags & SOCK_NONBLOCK) != 0, (flags & SOCK_CLOEXEC) != 0).value();
  }
  return Status{};
}

Status Machine::setsockopt(Process p, int fd, int level, int name, int value) {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return Status{index.error()};
  Socket& socket = sockets_[index.value()];
  const bool local = socket.family == AF_UNIX;
  if (level == SOL_SOCKET) {
    if (name == SO_REUSEADDR) {
      socket.options.reuse_address = value != 0;
      return Status{};
    }
    if (name != SO_REUSEPORT) return Status{ENOPROTOOPT};
    if (local && value != 0) return Status{EOPNOTSUPP};
    socket.options.reuse_port = value != 0;
    return Status{};
  }
  if (local) return Status{EOPNOTSUPP};
  if (level == IPPROTO_TCP && name == TCP_NODELAY) {
    socket.options.nodelay = value != 0;
    return Status{};
  }
  if (level == IPPROTO_TCP && name == TCP_DEFER_ACCEPT) {
    socket.options.defer_accept = value > 0 ? value : 0;
    return Status{};
  }
  if (level != IPPROTO_IPV6 || name != IPV6_V6ONLY || socket.family != AF_INET6) return Status{ENOPROTOOPT};
  if (socket.owned != 0) return Status{EINVAL};
  socket.options.v6_only = value != 0;
  return Status{};
}

Status Machine::set_linger(Process p, int fd, bool on, int seconds) {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return Status{index.error()};
  sockets_[index.value()].options.linger = on;
  if (on) sockets_[index.value()].options.linger_seconds = seconds;
  return Status{};
}

Result<int> Machine::getsockopt(Process p, int fd, int level, int name) {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return index;
  Socket& socket = sockets_[index.value()];
  if (level == SOL_SOCKET) {
    if (name == SO_REUSEADDR) return socket.options.reuse_address ? 1 : 0;
    if (name == SO_REUSEPORT) return socket.options.reuse_port ? 1 : 0;
    if (name == SO_ERROR) return take_error(socket);
    if (name == SO_ACCEPTCONN) return socket.state == TcpState::kListen ? 1 : 0;
    return Result<int>::failure(ENOPROTOOPT);
  }
  if (socket.family == AF_UNIX) return Result<int>::failure(EOPNOTSUPP);
  if (level == IPPROTO_TCP && name == TCP_NODELAY) return socket.options.nodelay ? 1 : 0;
  if (level == IPPROTO_TCP && name == TCP_DEFER_ACCEPT) return socket.options.defer_accept;
  if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && socket.family == AF_INET6) return socket.options.v6_only ? 1 : 0;
  return Result<int>::failure(level == IPPROTO_IPV6 ? EOPNOTSUPP : ENOPROTOOPT);
}

Result<int> Machine::accept_backlog(Process p, int fd) const {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return index;
  const Socket& socket = sockets_[index.value()];
  if (socket.family == AF_UNIX) return Result<int>::failure(EOPNOTSUPP);
  return socket.accept_queue.count;
}

Status Machine::getsockname(Process p, int fd, sockaddr_storage* out) const {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return Status{index.error()};
  const Socket& socket = sockets_[index.value()];
  *out = sockaddr_storage{};
  out->ss_family = AF_UNIX;
  if (socket.family != AF_UNIX) show_address(socket.family, socket.local, out);
  return Status{};
}

Status Machine::getpeername(Process p, int fd, sockaddr_storage* out) const {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return Status{index.error()};
  const Socket& socket = sockets_[index.value()];
  *out = sockaddr_storage{};
  out->ss_family = AF_UNIX;
  if (socket.family == AF_UNIX) return Status{};
  if (socket.remote.port == 0 || socket.state == TcpState::kClosed || socket.state == TcpState::kSynSent) {
    return Status{ENOTCONN};
  }
  show_address(socket.family, socket.remote, out);
  return Status{};
}

int Machine::take_error(Socket& socket) {
  const int error = socket.error;
  socket.error = 0;
  return error;
}

Status Machine::shutdown(Process p, int fd, int how) {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return Status{index.error()};
  if (how < SHUT_RD || how > SHUT_RDWR) return Status{EINVAL};
  const auto directions = static_cast<unsigned>(how) + 1;  // SHUT_RD is 0
  Socket& socket = sockets_[index.value()];
  return socket.family == AF_UNIX ? shutdown_unix(socket, directions) : shutdown_tcp(index.value(), directions);
}

}  // namespace flare::sim
