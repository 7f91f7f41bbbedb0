#include <algorithm>
#include <cerrno>

#include "machine/machine.h"

namespace flare::sim {

namespace {

// How well a listener fits: its own address before the wildcard, IPv4 before both. 0: not at all.
int fit(const Socket& listener, const Address& to) {
  if (listener.local.port != to.port) return 0;
  if (listener.local.same_ip(to)) return listener.family == AF_INET ? 4 : 3;
  if (!listener.local.is_wildcard()) return 0;
  if (to.is_v4()) {
    if (listener.family == AF_INET) return 2;
    return listener.local.is_v4() || !listener.options.v6_only ? 1 : 0;
  }
  return listener.family == AF_INET6 && !listener.local.is_v4() ? 1 : 0;
}

}  // namespace

Status Machine::connect(Process p, int fd, const sockaddr* address, socklen_t length) {
  const Result<int> found = find_socket(p, fd);
  if (!found.ok()) return Status{found.error()};
  const int index = found.value();
  Socket& socket = sockets_[index];
  if (socket.family == AF_UNIX) return Status{EINVAL};
  switch (socket.association) {
    case Association::kConnected:
      return Status{EISCONN};
    case Association::kDisconnecting:
      return Status{EINVAL};
    case Association::kConnecting:
      if (socket.state == TcpState::kSynSent) return Status{EALREADY};
      break;
    case Association::kUnconnected: {
      if (socket.state != TcpState::kClosed) return Status{EISCONN};
      const Result<Address> to = parse_address(socket.family, address, length);
      if (!to.ok()) return Status{to.error()};
      const Status begun = begin_connect(index, to.value());
      if (!begun.ok()) return begun;
      // What a socket that does not block gets although it is decided already.
      if (descriptions_[socket.description].nonblocking) return Status{EINPROGRESS};
      break;
    }
  }
  if (socket.state == TcpState::kSynSent) return Status{EINPROGRESS};
  if (socket.state == TcpState::kClosed) {
    const int error = take_error(socket);
    socket.association = Association::kUnconnected;
    disconnect(socket);
    return Status{error != 0 ? error : ECONNABORTED};
  }
  socket.association = Association::kConnected;
  return Status{};
}

Status Machine::begin_connect(int index, Address to) {
  Socket& socket = sockets_[index];
  if (to.is_wildcard()) {
    const std::uint16_t port = to.port;
    to = socket.address_locked ? socket.local : loopback_address(to.is_v4());
    to.port = port;
  }
  if (!to.is_loopback() || (to.is_v4() && socket.options.v6_only)) return Status{ENETUNREACH};
  Address from = socket.local;
  if (!socket.address_locked) from = loopback_address(to.is_v4());
  from.port = socket.owned;
  if (socket.owned == 0 && !find_port(index, from)) return Status{EADDRNOTAVAIL};
  if (connection_exists(from, to)) {
    release_port(socket);
    return Status{EADDRNOTAVAIL};
  }
  if (socket.owned == 0) {
    memory_of(from.port).all_reuse = false;
    memory_of(from.port).share = PortMemory::Share::kNo;
  }
  socket.local = from;
  socket.owned = from.port;
  socket.remote = to;
  socket.error = 0;
  socket.done = false;
  socket.state = TcpState::kSynSent;
  socket.association = Association::kConnecting;
  stall(index);
  send_syn(index);
  return Status{};
}

bool Machine::connection_exists(const Address& from, const Address& to) const {
  const auto same = [](const Address& a, const Address& b) { return a.port == b.port && a.same_ip(b); };
  for (int i = 0; i < sockets_.used(); ++i) {
    const Socket& other = sockets_[i];
    if (!other.alive || other.state == TcpState::kClosed || other.state == TcpState::kListen) continue;
    if (same(other.local, from) && same(other.remote, to)) return true;
  }
  return std::any_of(time_waits_.begin(), time_waits_.end(),
                     [&](const TimeWait& other) { return same(other.local, from) && same(other.remote, to); });
}

// The best listener; of a reuseport group any member.
int Machine::find_listener(const Address& to) {
  int best = 0;
  members_.clear();
  for (int i = 0; i < sockets_.used(); ++i) {
    const Socket& socket = sockets_[i];
    if (!socket.alive || socket.state != TcpState::kListen) continue;
    const int score = fit(socket, to);
    if (score == 0 || score < best) continue;
    if (score > best) members_.clear();
    best = score;
    members_.push_back(i);
  }
  if (members_.empty()) return kNone;
  if (members_.size() == 1) return members_[0];
  std::sort(members_.begin(), members_.end(),
            [this](int a, int b) { return sockets_[a].listen_order < sockets_[b].listen_order; });
  options_.clear();
  for (const int member : members_) options_.push_back(descriptions_[sockets_[member].description].generation);
  return members_[chooser_.choose(static_cast<unsigned>(members_.size()), "reuseport member")];
}

// The first packet: refused, dropped because the queue is full (then it comes again later), or answered.
void Machine::send_syn(int index) {
  const int listener = find_listener(sockets_[index].remote);
  if (listener == kNone) {
    receive_reset(index);
    return;
  }
  if (sockets_[listener].accept_queue.count > sockets_[listener].backlog) return;
  unstall(index);
  establish(index, listener);
}

void Machine::establish(int index, int listener) {
  const int child_index = take_socket(sockets_[listener].family);
  Socket& child = sockets_[child_index];
  Socket& client = sockets_[index];
  child.local = client.remote;
  child.remote = client.local;
  child.association = Association::kConnected;
  child.listener = listener;
  child.peer = index;
  client.peer = child_index;
  client.state = TcpState::kEstablished;
  state_change(client);
  // With more than its backlog deferred a listener answers with cookies and keeps no request, so it cannot defer.
  const auto deferred = std::count_if(stalled_.begin(), stalled_.end(),
                                      [this, listener](int waiting) { return sockets_[waiting].listener == listener; });
  if (sockets_[listener].options.defer_accept > 0 && deferred <= sockets_[listener].backlog) {
    child.state = TcpState::kDeferred;  // a request, not yet a socket: it keeps no port
    stall(child_index);
    return;
  }
  become_socket(child, sockets_[listener]);
  enqueue(listener, child_index);
}

// A request becomes a socket: it has of its listener what that is now.
void Machine::become_socket(Socket& child, const Socket& listener) {
  child.options = listener.options;
  child.options.defer_accept = 0;
  child.shutdown = listener.shutdown;
  child.address_locked = listener.address_locked;
  child.state = TcpState::kEstablished;
  child.owned = child.local.port;
}

void Machine::unstall(int socket) {
  const auto place = std::find(stalled_.begin(), stalled_.end(), socket);
  if (place != stalled_.end()) stalled_.erase(place);
}

// Back to a socket that never was connected and never listened.
void Machine::disconnect(Socket& socket) {
  const int index = descriptions_[socket.description].object;
  const TcpState before = socket.state;
  if (before == TcpState::kSynSent) {
    unstall(index);
    socket.error = ECONNRESET;
  }
  socket.state = TcpState::kClosed;
  if (before != TcpState::kClosed) release_port(socket);
  if (before == TcpState::kListen) stop_listening(index);
  socket.in.clear();
  socket.remote.port = 0;
  if (!socket.address_locked) forget_address(socket);
  socket.shutdown = 0;
  socket.done = false;
  wake(socket.watchers, EPOLLERR, false);
}

}  // namespace flare::sim
