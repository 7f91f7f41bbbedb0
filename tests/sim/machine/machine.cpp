#include "machine/machine.h"

namespace flare::sim {

namespace {

constexpr unsigned kFirstPort = 32768;

}  // namespace

Machine::Machine(Chooser& chooser, const Sizes& sizes) : chooser_(chooser), sizes_(sizes) {
  reset();
}

void Machine::reset() {
  for (FdTable& table : tables_) table.reset(sizes_.descriptors);
  descriptions_.reset();
  items_.reset();
  sets_.reset();
  waiters_.reset();
  counters_.reset();
  for (int i = 0; i < sockets_.used(); ++i) sockets_[i].alive = false;
  sockets_.reset();
  stalled_.clear();
  time_waits_.clear();
  ports_.clear();
  options_.clear();
  members_.clear();
  generation_ = 0;
  listen_order_ = 0;
  next_port_ = kFirstPort;
}

void Machine::reset(const Sizes& sizes) {
  sizes_ = sizes;
  reset();
}

void Machine::set_limit(Process p, int descriptors) {
  tables_[p].set_limit(descriptors);
}

// For oracles.

std::uint64_t Machine::description_of(Process p, int fd) const {
  const Description* description = find(p, fd);
  return description == nullptr ? 0 : description->generation;
}

bool Machine::nonblocking(Process p, int fd) const {
  const Description* description = find(p, fd);
  return description != nullptr && description->nonblocking;
}

void Machine::list_open(Process p, std::vector<OpenDescriptor>& out) const {
  out.clear();
  int left = tables_[p].count();
  for (int fd = 0; left > 0; ++fd) {
    const Description* description = find(p, fd);
    if (description == nullptr) continue;
    out.push_back(OpenDescriptor{fd, description->kind, description->generation});
    --left;
  }
}

bool Machine::refuses_more(Process p, int fd) const {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return false;
  const Socket& socket = sockets_[index.value()];
  return socket.state == TcpState::kListen && socket.accept_queue.count > socket.backlog;
}

unsigned Machine::live_connections() const {
  unsigned count = 0;
  for (int i = 0; i < sockets_.used(); ++i) {
    const Socket& socket = sockets_[i];
    if (!socket.alive || socket.peer == kNone) continue;
    const Socket& peer = sockets_[socket.peer];
    const bool held = !orphan(socket);
    // A pair is counted at its held side; where both are held, at the one with the lower number.
    if (held && (orphan(peer) || i < socket.peer)) ++count;
  }
  return count;
}

std::size_t Machine::bytes_in_flight() const {
  std::size_t bytes = 0;
  for (int i = 0; i < sockets_.used(); ++i) {
    const Socket& socket = sockets_[i];
    if (socket.alive && !orphan(socket)) bytes += socket.in.size();
  }
  return bytes;
}

}  // namespace flare::sim
