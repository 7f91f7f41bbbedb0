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
  if (socket.association == Association::kConnected) return Status{EISCONN};
  if (socket.association == Association::kDisconnecting) return Status{EINVAL};
  if (socket.association == Association::kUnconnected) {
    if (socket.state != TcpState::kClosed) return Status{EISCONN};
    const Result<Address> parsed = parse_address(socket.family, address, length);
    if (!parsed.ok()) return Status{parsed.error()};
    Address to = parsed.value();
    if (to.is_wildcard()) {
      const std::uint16_t port = to.port;
      to = loopback_address(to.is_v4());
      to.port = port;
    }
    if (!to.is_loopback() || (to.is_v4() && socket.options.v6_only)) return Status{ENETUNREACH};
    Address from = socket.local;
    if (!socket.address_locked) from = loopback_address(to.is_v4());
    from.port = socket.owned;
    if (socket.owned == 0 && !find_port(index, from)) return Status{EADDRNOTAVAIL};
    socket.local = from;
    socket.owned = from.port;
    socket.remote = to;
    socket.error = 0;
    socket.done = false;
    socket.state = TcpState::kSynSent;
    socket.association = Association::kConnecting;
    stall(index);
    send_syn(index);
    // What a socket that does not block gets although it is decided already.
    if (descriptions_[socket.description].nonblocking) return Status{EINPROGRESS};
  } else if (socket.state == TcpState::kSynSent) {
    return Status{EALREADY};
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
  child.options = sockets_[listener].options;
  child.local = client.remote;
  child.remote = client.local;
  child.owned = child.local.port;
  child.address_locked = sockets_[listener].address_locked;
  child.association = Association::kConnected;
  child.listener = listener;
  child.peer = index;
  client.peer = child_index;
  client.state = TcpState::kEstablished;
  state_change(client);
  if (child.options.defer_accept > 0) {
    child.state = TcpState::kDeferred;
    stall(child_index);
    return;
  }
  child.state = TcpState::kEstablished;
  enqueue(listener, child_index);
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
  release_port(socket);
  if (before == TcpState::kListen) stop_listening(index);
  socket.in.clear();
  socket.remote.port = 0;
  if (!socket.address_locked) {
    const std::uint16_t port = socket.local.port;
    socket.local = any_address(socket.family);
    socket.local.port = port;
  }
  socket.shutdown = 0;
  socket.done = false;
  wake(socket.watchers, EPOLLERR, false);
}

}  // namespace flare::sim
