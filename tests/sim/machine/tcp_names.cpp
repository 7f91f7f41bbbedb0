#include <algorithm>
#include <cerrno>

#include "machine/machine.h"

namespace flare::sim {

namespace {

constexpr unsigned kFirstPort = 32768;
constexpr unsigned kLastPort = 60999;

bool takes_v4(int family, const Address& local, bool v6_only) {
  if (family == AF_INET) return true;
  return local.is_v4() || (local.is_wildcard() && !v6_only);
}

bool takes_v6(int family, const Address& local) {
  return family == AF_INET6 && !local.is_v4();
}

// Is there an address to which both would answer?
bool overlap(int family, const Address& local, bool v6_only, int other_family, const Address& other, bool other_only) {
  const bool wildcard = local.is_wildcard() || other.is_wildcard();
  const bool same = local.same_ip(other);
  const bool v4 = takes_v4(family, local, v6_only) && takes_v4(other_family, other, other_only);
  const bool v6 = takes_v6(family, local) && takes_v6(other_family, other);
  return (v4 || v6) && (wildcard || same);
}

}  // namespace

// strict: somebody chooses the port for us, so one that is shared in any way will not do.
bool Machine::conflicts(int index, const Address& local, bool strict) const {
  const Socket& socket = sockets_[index];
  const SocketOptions& mine = socket.options;
  const auto against = [&](const SocketOptions& theirs, bool listens) {
    const bool reuse = mine.reuse_address && theirs.reuse_address && !listens;
    const bool share = mine.reuse_port && theirs.reuse_port;
    return strict || (!reuse && !share);
  };
  for (int i = 0; i < sockets_.used(); ++i) {
    const Socket& other = sockets_[i];
    if (i == index || !other.alive || other.owned != local.port) continue;
    if (!overlap(socket.family, local, mine.v6_only, other.family, other.local, other.options.v6_only)) continue;
    if (against(other.options, other.state == TcpState::kListen)) return true;
  }
  for (const TimeWait& other : time_waits_) {
    if (other.local.port != local.port) continue;
    if (!overlap(socket.family, local, mine.v6_only, other.family, other.local, other.options.v6_only)) continue;
    if (against(other.options, false)) return true;
  }
  return false;
}

// The memory of a port that nobody has any more is gone.
PortMemory& Machine::memory_of(std::uint16_t port) {
  bool owned = false;
  for (int i = 0; i < sockets_.used() && !owned; ++i) owned = sockets_[i].alive && sockets_[i].owned == port;
  for (const TimeWait& other : time_waits_) owned = owned || other.local.port == port;
  const auto found =
      std::find_if(ports_.begin(), ports_.end(), [port](const PortMemory& memory) { return memory.port == port; });
  PortMemory& memory = found != ports_.end() ? *found : ports_.emplace_back();
  if (!owned) {
    memory = PortMemory{};
    memory.all_reuse = true;
    memory.share = PortMemory::Share::kAny;
  }
  memory.port = port;
  return memory;
}

bool Machine::shares(const PortMemory& memory, const Socket& socket, const Address& local) const {
  if (memory.share == PortMemory::Share::kNo || !socket.options.reuse_port) return false;
  if (memory.share == PortMemory::Share::kAny) return true;
  return overlap(socket.family, local, socket.options.v6_only, memory.family, memory.local, memory.v6_only);
}

bool Machine::may_bind(int index, const Address& local) {
  const Socket& socket = sockets_[index];
  const PortMemory& memory = memory_of(local.port);
  if (memory.all_reuse && socket.options.reuse_address) return true;
  return shares(memory, socket, local) || !conflicts(index, local, false);
}

void Machine::remember_bind(int index, const Address& local, bool listens) {
  const Socket& socket = sockets_[index];
  PortMemory& memory = memory_of(local.port);
  if (!socket.options.reuse_address || listens) memory.all_reuse = false;
  if (!socket.options.reuse_port) {
    memory.share = PortMemory::Share::kNo;
  } else if (!shares(memory, socket, local)) {
    memory.share = PortMemory::Share::kSameAddress;
    memory.local = local;
    memory.family = socket.family;
    memory.v6_only = socket.options.v6_only;
  }
}

bool Machine::find_port(int index, Address& local) {
  for (unsigned tries = kFirstPort; tries <= kLastPort; ++tries) {
    local.port = static_cast<std::uint16_t>(next_port_);
    next_port_ = next_port_ == kLastPort ? kFirstPort : next_port_ + 1;
    if (!conflicts(index, local, true)) return true;
  }
  return false;
}

Status Machine::bind(Process p, int fd, const sockaddr* address, socklen_t length) {
  const Result<int> index = find_socket(p, fd);
  if (!index.ok()) return Status{index.error()};
  if (sockets_[index.value()].family == AF_UNIX) return Status{EINVAL};
  const Result<Address> asked = parse_address(sockets_[index.value()].family, address, length);
  if (!asked.ok()) return Status{asked.error()};
  return bind_to(index.value(), asked.value());
}

Status Machine::bind_to(int index, const Address& asked) {
  Socket& socket = sockets_[index];
  if (!asked.is_wildcard() && !asked.is_loopback()) return Status{EADDRNOTAVAIL};
  if (socket.options.v6_only && asked.is_v4()) return Status{EINVAL};
  if (socket.state != TcpState::kClosed || socket.owned != 0) return Status{EINVAL};
  Address local = asked;
  const bool taken = asked.port == 0 ? !find_port(index, local) : !may_bind(index, local);
  if (taken) {
    forget_address(socket);  // of a connection that is over
    return Status{EADDRINUSE};
  }
  remember_bind(index, local, false);
  socket.local = local;
  socket.owned = local.port;
  socket.port_locked = asked.port != 0;
  socket.address_locked = !asked.is_wildcard();
  return Status{};
}

void Machine::forget_address(Socket& socket) {
  const std::uint16_t port = socket.local.port;
  socket.local = any_address(socket.family);
  socket.local.port = port;
}

// A port that was chosen for the socket goes as soon as nothing needs it; one that was asked for stays until close.
void Machine::release_port(Socket& socket) {
  if (!socket.port_locked) socket.owned = 0;
}

}  // namespace flare::sim
