// What a call on a descriptor may change, or find changed: for those who ask which calls depend on each other.
#include "machine/machine.h"

namespace flare::sim {

namespace {

constexpr std::uint32_t kSocketKey = 1U << 16;
constexpr std::uint32_t kSetKey = 2U << 16;
constexpr std::uint32_t kCounterKey = 3U << 16;

std::uint32_t key(std::uint32_t kind, int index) {
  return kind + static_cast<std::uint32_t>(index);
}

}  // namespace

// The sets that watch a description learn of its changes.
void Machine::relate_sets(int description, RelatedObjects& out) const {
  if (description == kNone) return;
  const auto& items = descriptions_[description].items;
  for (int item = items.first; item != kNone; item = items.next(items_, item)) out.add(key(kSetKey, items_[item].set));
}

void Machine::relate_socket(int socket, RelatedObjects& out) const {
  if (socket == kNone) return;
  const Socket& one = sockets_[socket];
  out.add(key(kSocketKey, socket));
  relate_sets(one.description, out);
  if (one.listener != kNone) {
    out.add(key(kSocketKey, one.listener));
    relate_sets(sockets_[one.listener].description, out);
  }
}

// The object itself, the other end of a connection, the listener at which it waits, and every set that watches those.
void Machine::related(Process p, int fd, RelatedObjects& out) const {
  const Description* description = find(p, fd);
  if (description == nullptr) return;
  switch (description->kind) {
    case Kind::kEpoll:
      out.add(key(kSetKey, description->object));
      return;
    case Kind::kEventfd:
      out.add(key(kCounterKey, description->object));
      break;
    case Kind::kSocket:
      relate_socket(description->object, out);
      relate_socket(sockets_[description->object].peer, out);
      break;
  }
  for (int item = description->items.first; item != kNone; item = description->items.next(items_, item)) {
    out.add(key(kSetKey, items_[item].set));
  }
}

// Where a new connection may go to.
void Machine::related_listeners(RelatedObjects& out) const {
  for (int socket = 0; socket < sockets_.used(); ++socket) {
    if (sockets_[socket].alive && sockets_[socket].state == TcpState::kListen) relate_socket(socket, out);
  }
}

}  // namespace flare::sim
