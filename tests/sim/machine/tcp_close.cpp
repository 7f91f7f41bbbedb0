#include <cerrno>

#include "machine/machine.h"

namespace flare::sim {

namespace {

constexpr std::uint32_t kReadableKey = EPOLLIN | EPOLLPRI | EPOLLRDNORM | EPOLLRDBAND;

}  // namespace

// The connection is over for this side. An orphan ends here: do not touch it afterwards.
void Machine::finish(int index) {
  Socket& socket = sockets_[index];
  socket.state = TcpState::kClosed;
  release_port(socket);
  socket.shutdown = kBothShutdown;
  if (socket.peer != kNone && sockets_[socket.peer].peer == index) sockets_[socket.peer].peer = kNone;
  socket.peer = kNone;
  socket.fin_queued = false;
  socket.held.clear();
  if (orphan(socket)) {
    free_socket(index);
  } else {
    state_change(socket);
  }
}

// The side that closed first keeps its port busy for a while.
void Machine::time_wait(int index) {
  const Socket& socket = sockets_[index];
  time_waits_.push_back(TimeWait{socket.local, socket.remote, socket.options, socket.family});
  finish(index);
}

// A packet that kills the connection arrives.
void Machine::receive_reset(int index) {
  Socket& socket = sockets_[index];
  const bool closed = orphan(socket);
  switch (socket.state) {
    case TcpState::kClosed:
      return;
    case TcpState::kSynSent:
      unstall(index);
      socket.error = ECONNREFUSED;
      break;
    case TcpState::kDeferred:
      free_socket(index);
      return;
    case TcpState::kCloseWait:
      socket.error = EPIPE;
      break;
    default:
      socket.error = ECONNRESET;
      break;
  }
  socket.in.truncate(sizes_.receive_bytes);  // what had not arrived never will
  finish(index);
  if (!closed) wake(sockets_[index].watchers, EPOLLERR, false);
}

// shutdown(2) or close: the FIN goes out now, or behind what the peer has no room for.
void Machine::queue_fin(int index) {
  Socket& socket = sockets_[index];
  if (socket.state == TcpState::kEstablished) {
    socket.state = TcpState::kFinWait1;
  } else if (socket.state == TcpState::kCloseWait) {
    socket.state = TcpState::kLastAck;
  } else {
    return;
  }
  socket.fin_queued = true;
  send_fin(index);
}

void Machine::send_fin(int index) {
  Socket& socket = sockets_[index];
  const int peer = socket.peer;
  if (peer == kNone || !socket.fin_queued) return;
  if (sockets_[peer].state == TcpState::kDeferred) {
    promote(peer);
    return;
  }
  if (unsent(socket) > 0) return;
  socket.fin_queued = false;
  receive_fin(peer);
  receive_fin_ack(index);
}

void Machine::receive_fin(int index) {
  Socket& socket = sockets_[index];
  const bool closed = orphan(socket);
  socket.shutdown |= kReceiveShutdown;
  socket.done = true;
  if (socket.state == TcpState::kEstablished) {
    socket.state = TcpState::kCloseWait;
  } else if (socket.state == TcpState::kFinWait1) {
    socket.state = TcpState::kClosing;
  } else if (socket.state == TcpState::kFinWait2) {
    time_wait(index);
  }
  if (closed) return;
  state_change(socket);
  wake(socket.watchers, kReadableKey, false);
}

void Machine::receive_fin_ack(int index) {
  Socket& socket = sockets_[index];
  if (socket.state == TcpState::kFinWait1) {
    socket.state = TcpState::kFinWait2;
    state_change(socket);
  } else if (socket.state == TcpState::kClosing) {
    time_wait(index);
  } else if (socket.state == TcpState::kLastAck) {
    finish(index);
  }
}

void Machine::close_tcp(int index) {
  Socket& socket = sockets_[index];
  const int peer = socket.peer;
  const bool resets = !socket.in.empty() || (socket.options.linger && socket.options.linger_seconds == 0);
  if (!resets) release_held(index);
  if (!socket.alive) return;  // the peer, which had closed, answered that with a reset
  socket.shutdown = kBothShutdown;
  switch (socket.state) {
    case TcpState::kListen:
      socket.state = TcpState::kClosed;
      stop_listening(index);
      free_socket(index);
      return;
    case TcpState::kClosed:
    case TcpState::kSynSent:
      free_socket(index);
      return;
    default:
      break;
  }
  // Data that nobody will read, and a linger of 0, are told to the peer as a reset.
  if (resets) {
    free_socket(index);
    if (peer != kNone) receive_reset(peer);
    return;
  }
  queue_fin(index);
}

Status Machine::shutdown_tcp(int index, unsigned how) {
  Socket& socket = sockets_[index];
  if (socket.association == Association::kConnecting) {
    const bool connected = socket.state != TcpState::kSynSent && socket.state != TcpState::kClosed;
    socket.association = connected ? Association::kConnected : Association::kDisconnecting;
  }
  if (socket.state == TcpState::kListen) {
    return (how & kReceiveShutdown) != 0 ? shutdown_listener(socket) : (state_change(socket), Status{});
  }
  if (socket.state == TcpState::kSynSent) {
    socket.association = Association::kUnconnected;
    disconnect(socket);
    state_change(socket);
    return Status{};
  }
  const Status status{socket.state == TcpState::kClosed ? ENOTCONN : 0};
  if ((how & kSendShutdown) != 0) release_held(index);
  socket.shutdown |= how;
  if ((how & kSendShutdown) != 0) queue_fin(index);
  state_change(socket);
  return status;
}

Status Machine::shutdown_unix(Socket& socket, unsigned how) {
  socket.shutdown |= how;
  state_change(socket);
  if (socket.peer == kNone) return Status{};
  Socket& peer = sockets_[socket.peer];
  if ((how & kReceiveShutdown) != 0) peer.shutdown |= kSendShutdown;
  if ((how & kSendShutdown) != 0) peer.shutdown |= kReceiveShutdown;
  state_change(peer);
  return Status{};
}

// Unread data is an error for the peer; what the peer sent is freed, message by message.
void Machine::close_unix(int index) {
  Socket& socket = sockets_[index];
  const int peer_index = socket.peer;
  const unsigned pieces = socket.in.pieces();
  if (peer_index != kNone) {
    Socket& peer = sockets_[peer_index];
    peer.shutdown = kBothShutdown;
    if (pieces > 0) peer.error = ECONNRESET;
    state_change(peer);
    socket.in.clear();
    for (unsigned i = 0; i < pieces; ++i) wake(peer.watchers, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND, false);
  }
  free_socket(index);
}

}  // namespace flare::sim
