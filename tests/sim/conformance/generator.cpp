#include "conformance/generator.h"

#include <netinet/in.h>
#include <sys/epoll.h>

#include <algorithm>

namespace flare::sim::conformance {

namespace {

constexpr int kReuseAddress = 0;
constexpr int kReusePort = 1;
constexpr int kNoDelay = 2;
constexpr int kError = 3;
constexpr int kDeferAccept = 4;
constexpr unsigned kOptionCount = 6;

}  // namespace

Script Generator::make() {
  theme_ = Theme{};
  theme_.groups = chance(25);
  theme_.deferred = !theme_.groups && chance(20);
  theme_.half_close = chance(60);
  theme_.edge = !theme_.half_close && chance(60);
  theme_.tight = chance(15);
  theme_.names = chance(30);
  script_ = Script{};
  registered_.clear();
  script_.limit = theme_.tight ? 8 : 18;
  script_.ordered = !theme_.half_close;
  shadow_.start(script_.limit);
  prelude();
  const std::size_t length = 20 + below(40);
  while (script_.calls.size() < length + 10) random_call();
  look();
  for (const int set : known_.sets) emit({Op::kTake, set, 0, 64, 0});
  return script_;
}

void Generator::emit(const Call& call) {
  last_ = make_call(shadow_, call, Place{}, script_.calls.size());
  script_.calls.push_back(call);
  if (call.op == Op::kAdd && last_.error == 0) registered_.emplace_back(call.fd, call.other);
}

void Generator::look() {
  known_ = Known{};
  std::vector<OpenDescriptor> open;
  shadow_.machine().list_open(kServer, open);
  for (const OpenDescriptor& descriptor : open) {
    const int fd = descriptor.fd;
    known_.all.push_back(fd);
    if (descriptor.kind == Kind::kEpoll) known_.sets.push_back(fd);
    if (descriptor.kind == Kind::kEventfd) known_.counters.push_back(fd);
    if (descriptor.kind != Kind::kSocket) continue;
    known_.sockets.push_back(fd);
    sockaddr_storage name{};
    const bool tcp = is_tcp(fd);
    const bool listens = shadow_.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN).value() != 0;
    const bool connected = shadow_.getpeername(fd, &name).ok();
    if (!tcp) known_.pairs.push_back(fd);
    (listens ? known_.listeners : connected ? known_.connected : known_.fresh).push_back(fd);
  }
}

bool Generator::is_tcp(int fd) const {
  sockaddr_storage name{};
  return const_cast<MachineWorld&>(shadow_).getsockname(fd, &name).ok() && name.ss_family == AF_INET;
}

// Now and then a number that does not fit, or that nobody has.
int Generator::pick(const std::vector<int>& from) {
  if (from.empty() || chance(4)) {
    return chance(30) || known_.all.empty() ? static_cast<int>(below(20)) - 1
                                            : known_.all[below(static_cast<unsigned>(known_.all.size()))];
  }
  return from[below(static_cast<unsigned>(from.size()))];
}

void Generator::prelude() {
  emit({Op::kEpollCreate, 0, 0, 0, 0});
  emit({Op::kEpollCreate, 0, 0, 0, 0});
  if (chance(50)) emit({Op::kPair, 0, 0, 0, 0});
  if (chance(40)) emit({Op::kEventfd, 0, 0, 0, 0});
  open_listener();
  if (chance(70)) open_connection();
}

void Generator::open_listener() {
  emit({Op::kSocket, 0, 0, 0, 0});
  const int fd = static_cast<int>(last_.value);
  if (last_.error != 0) return;
  if (chance(70)) emit({Op::kOption, fd, kReuseAddress, 1, 0});
  if (theme_.groups && chance(80)) emit({Op::kOption, fd, kReusePort, 1, 0});
  emit({Op::kBind, fd, theme_.groups || chance(50) ? 1 : static_cast<int>(below(4)), 0, 0});
  emit({Op::kListen, fd, 0, chance(70) ? 8 : static_cast<int>(below(3)), 0});
  if (theme_.deferred && chance(70)) emit({Op::kOption, fd, kDeferAccept, 1, 0});
}

void Generator::open_connection() {
  look();
  emit({Op::kSocket, 0, 0, chance(10) ? 1 : 0, 0});
  const int fd = static_cast<int>(last_.value);
  if (last_.error != 0) return;
  emit({Op::kConnect, fd, pick(known_.listeners), 0, 0});
  if (chance(70) && !known_.listeners.empty()) emit({Op::kAccept, pick(known_.listeners), 0, SOCK_NONBLOCK, 0});
}

void Generator::random_call() {
  look();
  const unsigned kind = below(100);
  if (kind < 40) {
    epoll_call();
  } else if (kind < 68) {
    stream_call();
  } else if (kind < 82) {
    socket_call();
  } else {
    other_call();
  }
}

std::uint32_t Generator::interest(int fd) {
  // The acknowledgement of a FIN, which Linux holds back for 40 ms, is one more change: an edge, so not with it.
  const bool counted = std::count(known_.sets.begin(), known_.sets.end(), fd) != 0;
  const bool edge_allowed = theme_.edge || (!is_tcp(fd) && !(theme_.half_close && counted));
  std::uint32_t events = 0;
  if (chance(80)) events |= EPOLLIN;
  if (chance(40)) events |= EPOLLOUT;
  if (chance(10)) events |= EPOLLEXCLUSIVE;
  if (chance((events & EPOLLEXCLUSIVE) != 0 ? 10 : 40)) events |= EPOLLRDHUP;
  if (edge_allowed && chance(25)) events |= EPOLLET;
  if (chance((events & EPOLLEXCLUSIVE) != 0 ? 5 : 15)) events |= EPOLLONESHOT;
  return events;
}

void Generator::epoll_call() {
  if (known_.sets.empty()) return emit({Op::kEpollCreate, 0, 0, 0, 0});
  int set = pick(known_.sets);
  int fd = chance(10) ? pick(known_.sets) : pick(known_.all);
  const unsigned kind = below(100);
  if (kind >= 35 && kind < 55 && !registered_.empty() && chance(75)) {
    const auto& some = registered_[below(static_cast<unsigned>(registered_.size()))];
    set = some.first;
    fd = some.second;
  }
  if (kind < 35) {
    emit({Op::kAdd, set, fd, 0, interest(fd)});
  } else if (kind < 47) {
    emit({Op::kModify, set, fd, 0, interest(fd)});
  } else if (kind < 55) {
    emit({Op::kRemove, set, fd, 0, 0});
  } else if (kind < 60) {
    emit({Op::kPoll, set, 0, 0, 0});
  } else {
    const int most = script_.ordered && chance(30) ? static_cast<int>(below(4)) : 64;
    emit({Op::kTake, set, 0, most, 0});
  }
}

int Generator::how_to_shut(int fd) {
  if (chance(3)) return 3;
  if (is_tcp(fd) && !theme_.half_close && std::count(known_.connected.begin(), known_.connected.end(), fd) != 0) {
    return SHUT_RD;
  }
  return static_cast<int>(below(3));
}

void Generator::stream_call() {
  const int fd = chance(90) ? pick(known_.connected) : pick(known_.sockets);
  const unsigned kind = below(100);
  const int size = chance(50) ? static_cast<int>(below(16)) + 1 : static_cast<int>(below(600)) + 1;
  if (kind < 35) {
    emit({Op::kSend, fd, 0, size, 0});
  } else if (kind < 42) {
    emit({Op::kSendParts, fd, 0, size, 0});
  } else if (kind < 72) {
    emit({Op::kRecv, fd, 0, size, 0});
  } else if (kind < 84) {
    emit({Op::kShutdown, fd, 0, how_to_shut(fd), 0});
  } else if (kind < 88) {
    emit({Op::kLinger, fd, 0, chance(80) ? 1 : 0, 0});
  } else {
    emit({Op::kClose, fd, 0, 0, 0});
  }
}

void Generator::socket_call() {
  const unsigned kind = below(100);
  const int fresh = pick(known_.fresh);
  if (kind < 25) {
    open_connection();
  } else if (kind < 45) {
    emit({Op::kAccept, pick(known_.listeners), 0, SOCK_NONBLOCK | (chance(3) ? 1 : 0), 0});
  } else if (kind < 60) {
    emit({Op::kConnect, chance(70) ? fresh : pick(known_.sockets),
          chance(85) ? pick(known_.listeners) : -1 - static_cast<int>(below(3)), 0, 0});
  } else if (kind < 68) {
    emit({Op::kBind, chance(80) ? fresh : pick(known_.sockets), static_cast<int>(below(5)) - 1, 0, 0});
  } else if (kind < 76) {
    emit({Op::kListen, chance(60) ? fresh : pick(known_.sockets), 0, static_cast<int>(below(5)) - 1, 0});
  } else if (kind < 84 || theme_.names) {
    open_listener();
  } else {
    const int listener = pick(known_.listeners);
    emit({Op::kShutdown, listener, 0, how_to_shut(listener), 0});
  }
}

void Generator::other_call() {
  const int fd = pick(known_.all);
  const unsigned kind = below(100);
  if (kind < 14) {
    emit({Op::kClose, fd, 0, 0, 0});
  } else if (kind < 30) {
    emit({Op::kDup, fd, 0, 0, 0});
  } else if (kind < 38) {
    emit({chance(40)   ? Op::kEventfd
          : chance(50) ? Op::kPair
                       : Op::kEpollCreate,
          0, chance(20) ? 1 : 0, static_cast<int>(below(3)), 0});
  } else if (kind < 52) {
    emit({Op::kWrite, pick(known_.counters), 0,
          chance(70) ? static_cast<int>(below(3)) : -1 - static_cast<int>(below(3)), 0});
  } else if (kind < 64) {
    emit({Op::kRead, pick(known_.counters), 0, chance(90) ? 8 : 4, 0});
  } else if (kind < 70) {
    emit({Op::kName, pick(known_.sockets), 0, 0, 0});
  } else if (kind < 76) {
    emit({Op::kPeer, pick(known_.sockets), 0, 0, 0});
  } else if (kind < 86) {
    // Left out: TCP_DEFER_ACCEPT, which Linux rounds to its own retries, and TCP_NODELAY, which every socket of the
    // real kernel has here: without it what is sent may arrive later.
    const int socket = pick(known_.sockets);
    const auto which = static_cast<int>(below(kOptionCount));
    const bool left_out = which == kDeferAccept || which == kNoDelay;
    emit({Op::kReadOption, socket, left_out ? kError : which, 0, 0});
  } else if (kind < 92) {
    emit({Op::kBacklog, pick(known_.listeners), 0, 0, 0});
  } else if (kind < 97) {
    emit({Op::kOption, pick(known_.sockets), kNoDelay, 1, 0});
  } else {
    emit({Op::kLimit, 0, 0, static_cast<int>(below(18)) + 2, 0});
  }
}

}  // namespace flare::sim::conformance
