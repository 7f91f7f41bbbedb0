// connection_table.h: one worker's live sockets, found by handle, never by number.    Internal.
// Threads:    the owning worker.
// Owns:       each live slot's socket and Connection.
// Bounds:     grows with the live connections; a free slot is used again.
// Errors:     std::bad_alloc from add, which then changed nothing.
// Ordering:   none.
// Invariants: INV-04, INV-10: a handle of a slot that was freed finds nothing.
// Not here:   what happens on the sockets (connection_set.h).
// Source:     own design.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/time.h"
#include "flare/base/unique_fd.h"
#include "flare/timer/timer_wheel.h"
#include "flare/worker/connection.h"

namespace flare::inline FLARE_ABI {

struct ConnectionSlot {
  enum class State : std::uint8_t { kFree, kServing, kLingering };

  UniqueFd fd;
  std::unique_ptr<Connection> connection;  // none while lingering
  MonoTime deadline = kNever;              // what the last Step asked for
  MonoTime adopted_at{};
  MonoTime linger_end = kNever;
  TimerId timer;  // fires at deadline or earlier; re-armed lazily
  std::uint64_t timer_ms = 0;
  std::size_t discarded = 0;  // while lingering
  std::uint32_t generation = 1;
  std::uint32_t index = 0;
  int accepted_by = 0;
  int interest = 0;  // in the reactor; 0: not registered
  State state = State::kFree;
  CloseReason reason = CloseReason::kAnswered;  // while lingering
  bool turn_queued = false;
  bool grace_told = false;

  std::uint64_t handle() const { return (static_cast<std::uint64_t>(generation) << 32) | index; }
};

class ConnectionTable {
 public:
  ConnectionSlot& add(UniqueFd fd);
  // Nothing when the handle's slot was freed since.
  ConnectionSlot* find(std::uint64_t handle);
  // Closes the socket and destroys the Connection.
  void remove(ConnectionSlot& slot);
  std::size_t live() const { return live_; }
  // Live slots; visit may remove the slot that it is given and no other.
  template <class Visit>
  void for_each(Visit visit) {
    for (ConnectionSlot& slot : slots_) {
      if (slot.state != ConnectionSlot::State::kFree) visit(slot);
    }
  }

 private:
  std::deque<ConnectionSlot> slots_;  // addresses stay while it grows
  std::vector<std::uint32_t> free_;   // capacity is kept at slots_.size(), so that remove never allocates
  std::size_t live_ = 0;
};

}  // namespace flare::inline FLARE_ABI
