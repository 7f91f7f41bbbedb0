#include <cerrno>

#include "machine/machine.h"

namespace flare::sim {

namespace {

constexpr int kLongestBacklog = 4096;  // net.core.somaxconn
constexpr std::uint32_t kReadableKey = EPOLLIN | EPOLLPRI | EPOLLRDNORM | EPOLLRDBAND;

}  // namespace

Status Machine::listen(Process p, int fd, int backlog) {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return Status{index.error()};
  Socket& socket = sockets_[index.value()];
  if (socket.family == AF_UNIX || socket.association != Association::kUnconnected) return Status{EINVAL};
  if (socket.state != TcpState::kClosed && socket.state != TcpState::kListen) return Status{EINVAL};
  if (backlog < 0 || backlog > kLongestBacklog) backlog = kLongestBacklog;
  socket.backlog = backlog;
  if (socket.state == TcpState::kListen) return Status{};
  Address local = socket.local;
  if (socket.owned == 0) {
    // Never bound, or its port went when it was disabled: any port.
    if (!find_port(index.value(), local)) return Status{EADDRINUSE};
  } else if (!may_listen(index.value())) {
    return Status{EADDRINUSE};
  }
  remember_bind(index.value(), local, true);
  socket.local.port = local.port;
  socket.owned = local.port;
  socket.state = TcpState::kListen;
  socket.listen_order = ++listen_order_;
  return Status{};
}

// As may_bind, but one that listens reuses no address.
bool Machine::may_listen(int index) {
  const Socket& socket = sockets_[index];
  return shares(memory_of(socket.owned), socket, socket.local) || !conflicts(index, socket.local, false);
}

Result<int> Machine::accept4(Process p, int fd, int flags) {
  const Description* description = find(p, fd);
  if (description == nullptr) return Result<int>::failure(EBADF);
  if ((flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0) return Result<int>::failure(EINVAL);
  if (tables_[p].lowest_free() == kNone) return Result<int>::failure(EMFILE);  // before it looks for a client
  if (description->kind != Kind::kSocket) return Result<int>::failure(ENOTSOCK);
  Socket& listener = sockets_[description->object];
  if (listener.state != TcpState::kListen) return Result<int>::failure(EINVAL);
  if (listener.accept_queue.empty()) return Result<int>::failure(EAGAIN);
  const int child = listener.accept_queue.pop_front(sockets_);
  return open(p, Kind::kSocket, child, (flags & SOCK_NONBLOCK) != 0, (flags & SOCK_CLOEXEC) != 0);
}

void Machine::enqueue(int listener, int child) {
  sockets_[listener].accept_queue.push_back(sockets_, child);
  // A socket that was shut down before it listened hands that on: its clients get their end of file at once.
  if ((sockets_[child].shutdown & kSendShutdown) != 0) queue_fin(child);
  wake(sockets_[listener].watchers, kReadableKey, false);
}

// The clients that nobody accepted are reset. Deferred ones are forgotten: their clients learn it when they send.
void Machine::stop_listening(int index) {
  Socket& listener = sockets_[index];
  while (!listener.accept_queue.empty()) {
    const int child = listener.accept_queue.pop_front(sockets_);
    sockets_[child].listener = kNone;
    const int peer = sockets_[child].peer;
    free_socket(child);
    if (peer != kNone) receive_reset(peer);
  }
}

// shutdown(2): as if it had never listened, but the number stays, and so does a port that was asked for.
Status Machine::shutdown_listener(Socket& listener) {
  disconnect(listener);
  state_change(listener);
  return Status{};
}

// Something came on a deferred connection: now accept may have it, if its queue has room.
void Machine::promote(int index) {
  Socket& child = sockets_[index];
  if (child.listener == kNone || sockets_[child.listener].state != TcpState::kListen) {
    const int client = child.peer;
    free_socket(index);
    receive_reset(client);
    return;
  }
  Socket& listener = sockets_[child.listener];
  if (listener.accept_queue.count > listener.backlog) return;
  unstall(index);
  become_socket(child, listener);
  const int client = child.peer;
  const int to = child.listener;
  if (sockets_[client].fin_queued) send_fin(client);
  const bool has_data = !child.in.empty();
  enqueue(to, index);
  // A listener that was shut down before it listened gave its child both ends of file: what promoted it is refused.
  if (has_data && refuses_data(sockets_[index])) {
    sockets_[index].in.clear();
    reset_both(index, client);
  }
}

void Machine::retry(unsigned index) {
  const int socket = stalled_[index];
  if (sockets_[socket].state == TcpState::kDeferred) {
    promote(socket);
  } else {
    send_syn(socket);
  }
}

}  // namespace flare::sim
