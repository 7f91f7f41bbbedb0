#include <algorithm>
#include <cerrno>
#include <string>

#include "machine/machine.h"

namespace flare::sim {

namespace {

constexpr std::uint32_t kReadableKey = EPOLLIN | EPOLLPRI | EPOLLRDNORM | EPOLLRDBAND;
constexpr std::uint32_t kWritableKey = EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND;

using Count = Result<std::size_t>;

void push_parts(ByteQueue& queue, const iovec* parts, int count, std::size_t size) {
  for (int i = 0; i < count && size > 0; ++i) {
    const std::size_t part = std::min(size, parts[i].iov_len);
    queue.push(static_cast<const char*>(parts[i].iov_base), part);
    size -= part;
  }
}

}  // namespace

Count Machine::send(Process p, int fd, const void* data, std::size_t size) {
  const iovec part{const_cast<void*>(data), size};  // only read
  return sendmsg(p, fd, &part, 1);
}

Count Machine::send_held(Process p, int fd, const void* data, std::size_t size) {
  const Result<int> found = find_socket(p, fd);
  if (!found.ok()) return Count::failure(found.error());
  Socket& socket = sockets_[found.value()];
  const bool open = socket.state == TcpState::kEstablished || socket.state == TcpState::kCloseWait;
  const bool sends = socket.family != AF_UNIX && open && socket.error == 0 && (socket.shutdown & kSendShutdown) == 0;
  const std::size_t room = sizes_.receive_bytes + sizes_.send_bytes;
  if (!sends || sockets_[socket.peer].in.size() + socket.held.size() + size > room) return send(p, fd, data, size);
  socket.held.push(static_cast<const char*>(data), size);
  return size;
}

void Machine::release_held(int index) {
  ByteQueue& held = sockets_[index].held;
  if (held.empty()) return;
  std::string bytes(held.size(), '\0');
  held.pop(bytes.data(), bytes.size());
  const iovec part{bytes.data(), bytes.size()};
  static_cast<void>(send_tcp(index, &part, 1, bytes.size()));
}

Count Machine::sendmsg(Process p, int fd, const iovec* parts, int count) {
  const Result<int> socket = find_socket(p, fd);
  if (!socket.ok()) return Count::failure(socket.error());
  std::size_t total = 0;
  for (int i = 0; i < count; ++i) total += parts[i].iov_len;
  if (sockets_[socket.value()].family == AF_UNIX) return send_unix(socket.value(), parts, count, total);
  return send_tcp(socket.value(), parts, count, total);
}

Count Machine::recv(Process p, int fd, void* out, std::size_t size) {
  const Result<int> socket = find_socket(p, fd);
  if (!socket.ok()) return Count::failure(socket.error());
  if (sockets_[socket.value()].family == AF_UNIX) return recv_unix(socket.value(), static_cast<char*>(out), size);
  return recv_tcp(socket.value(), static_cast<char*>(out), size);
}

Count Machine::send_tcp(int index, const iovec* parts, int count, std::size_t total) {
  release_held(index);
  Socket& socket = sockets_[index];
  if (socket.state == TcpState::kSynSent) return Count::failure(EAGAIN);
  const bool open = socket.state == TcpState::kEstablished || socket.state == TcpState::kCloseWait;
  if (!open || socket.error != 0 || (socket.shutdown & kSendShutdown) != 0) {
    const int error = take_error(socket);
    return Count::failure(error != 0 ? error : EPIPE);
  }
  const int peer_index = socket.peer;
  Socket& peer = sockets_[peer_index];
  const std::size_t room = sizes_.receive_bytes + sizes_.send_bytes;
  const std::size_t size = std::min(total, room > peer.in.size() ? room - peer.in.size() : 0);
  if (size < total) socket.no_space = true;
  if (size == 0) return total == 0 ? Count(0) : Count::failure(EAGAIN);
  if (peer.state == TcpState::kDeferred) {
    push_parts(peer.in, parts, count, size);
    promote(peer_index);
    return size;
  }
  if (refuses_data(peer)) {
    reset_both(peer_index, index);
    return size;
  }
  push_parts(peer.in, parts, count, size);
  arrived(peer_index);
  return size;
}

// Data for a side that closed, or that shut down both directions, is answered with a reset.
bool Machine::refuses_data(const Socket& reader) const {
  const bool finished = reader.state == TcpState::kFinWait1 || reader.state == TcpState::kFinWait2;
  return finished && (reader.shutdown & kReceiveShutdown) != 0;
}

void Machine::reset_both(int reader, int writer) {
  receive_reset(reader);
  sockets_[writer].peer = kNone;
  receive_reset(writer);
}

void Machine::arrived(int reader) {
  wake(sockets_[reader].watchers, kReadableKey, false);
}

Count Machine::recv_tcp(int index, char* out, std::size_t size) {
  Socket& socket = sockets_[index];
  if (socket.state == TcpState::kListen) return Count::failure(ENOTCONN);
  if (!socket.in.empty()) {
    const int writer = socket.peer;
    const std::size_t before = writer == kNone ? 0 : unsent(sockets_[writer]);
    const std::size_t read = socket.in.pop(out, std::min(size, sizes_.receive_bytes));
    if (writer != kNone) room_for_sender(index, before);
    return read;
  }
  if (socket.done) return Count(0);
  if (socket.error != 0) return Count::failure(take_error(socket));
  if ((socket.shutdown & kReceiveShutdown) != 0) return Count(0);
  if (socket.state == TcpState::kClosed) return Count::failure(ENOTCONN);
  return Count::failure(EAGAIN);
}

// The reader made room: bytes move on from the writer's side, its FIN may follow, and it hears of room.
void Machine::room_for_sender(int reader, std::size_t unsent_before) {
  const int writer = sockets_[reader].peer;
  Socket& socket = sockets_[writer];
  if (unsent_before > 0) arrived(reader);
  if (socket.no_space && writable(socket)) {
    socket.no_space = false;
    wake(socket.watchers, kWritableKey, false);
  }
  if (socket.fin_queued) send_fin(writer);
}

Count Machine::send_unix(int index, const iovec* parts, int count, std::size_t total) {
  Socket& socket = sockets_[index];
  if ((socket.shutdown & kSendShutdown) != 0 || socket.peer == kNone) return Count::failure(EPIPE);
  if (total == 0) return Count(0);
  Socket& peer = sockets_[socket.peer];
  if ((peer.shutdown & kReceiveShutdown) != 0) return Count::failure(EPIPE);
  const std::size_t used = peer.in.size();
  if (used >= sizes_.pair_bytes) return Count::failure(EAGAIN);
  const std::size_t size = std::min(total, sizes_.pair_bytes - used);
  push_parts(peer.in, parts, count, size);
  peer.in.end_piece(size);
  arrived(socket.peer);
  return size;
}

Count Machine::recv_unix(int index, char* out, std::size_t size) {
  Socket& socket = sockets_[index];
  if (socket.in.empty()) {
    if (socket.error != 0) return Count::failure(take_error(socket));
    return (socket.shutdown & kReceiveShutdown) != 0 ? Count(0) : Count::failure(EAGAIN);
  }
  const std::size_t read = socket.in.pop(out, size);
  const unsigned freed = socket.in.consume_pieces(read);
  if (socket.peer == kNone) return read;
  Socket& writer = sockets_[socket.peer];
  for (unsigned i = 0; i < freed && writable(writer); ++i) wake(writer.watchers, kWritableKey, false);
  return read;
}

}  // namespace flare::sim
