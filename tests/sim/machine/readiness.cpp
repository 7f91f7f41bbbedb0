#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>
#include <limits>

#include "machine/machine.h"

namespace flare::sim {

namespace {

constexpr std::uint32_t kIn = EPOLLIN | EPOLLRDNORM;
constexpr std::uint32_t kOut = EPOLLOUT | EPOLLWRNORM;

}  // namespace

Result<unsigned> Machine::poll_bits(Process p, int fd) {
  const Description* description = find(p, fd);
  if (description == nullptr) return Result<unsigned>::failure(EBADF);
  return static_cast<unsigned>(mask_of(*description));
}

std::uint32_t Machine::mask_of(const Description& description) {
  switch (description.kind) {
    case Kind::kEventfd:
      return eventfd_mask(counters_[description.object]);
    case Kind::kEpoll:
      return epoll_mask(sets_[description.object]);
    case Kind::kSocket:
      break;
  }
  Socket& socket = sockets_[description.object];
  return socket.family == AF_UNIX ? unix_mask(socket) : tcp_mask(socket);
}

std::uint32_t Machine::eventfd_mask(const EventCounter& counter) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t mask = 0;
  if (counter.count > 0) mask |= EPOLLIN;
  if (counter.count == kMost) mask |= EPOLLERR;
  if (counter.count < kMost - 1) mask |= EPOLLOUT;
  return mask;
}

// A set is readable if something in its list is still ready; what is no longer leaves the list while it looks.
std::uint32_t Machine::epoll_mask(EpollSet& set) {
  std::uint32_t mask = 0;
  while (!set.ready.empty() && mask == 0) {
    const int first = set.ready.first;
    if (item_mask(items_[first]) != 0) {
      mask = kIn;
    } else {
      set.ready.remove(items_, first);
    }
  }
  if (!set.ready.empty()) wake_waiter(set);
  return mask;
}

std::uint32_t Machine::tcp_mask(Socket& socket) {
  if (socket.state == TcpState::kListen) return socket.accept_queue.empty() ? 0 : kIn;
  std::uint32_t mask = 0;
  if (socket.shutdown == kBothShutdown || socket.state == TcpState::kClosed) mask |= EPOLLHUP;
  if ((socket.shutdown & kReceiveShutdown) != 0) mask |= kIn | EPOLLRDHUP;
  if (socket.state != TcpState::kSynSent) {
    if (!socket.in.empty()) mask |= kIn;
    if ((socket.shutdown & kSendShutdown) != 0 || writable(socket)) {
      mask |= kOut;
    } else {
      socket.no_space = true;  // who has looked is told of room
    }
  }
  if (socket.error != 0) mask |= EPOLLERR;
  return mask;
}

std::uint32_t Machine::unix_mask(const Socket& socket) const {
  std::uint32_t mask = 0;
  if (socket.error != 0) mask |= EPOLLERR;
  if (socket.shutdown == kBothShutdown) mask |= EPOLLHUP;
  if ((socket.shutdown & kReceiveShutdown) != 0) mask |= kIn | EPOLLRDHUP;
  if (!socket.in.empty()) mask |= kIn;
  if (socket.state == TcpState::kClosed) mask |= EPOLLHUP;
  if (writable(socket)) mask |= kOut | EPOLLWRBAND;
  return mask;
}

// Not "is there room": TCP wants a third of its buffer free, a unix socket three quarters.
bool Machine::writable(const Socket& socket) const {
  if (socket.family == AF_UNIX) {
    const std::size_t used = socket.peer == kNone ? 0 : sockets_[socket.peer].in.size();
    return used * 4 <= sizes_.pair_bytes;
  }
  return unsent(socket) * 3 <= sizes_.send_bytes * 2;
}

std::size_t Machine::unsent(const Socket& socket) const {
  if (socket.peer == kNone) return 0;
  const std::size_t size = sockets_[socket.peer].in.size();
  return size > sizes_.receive_bytes ? size - sizes_.receive_bytes : 0;
}

}  // namespace flare::sim
