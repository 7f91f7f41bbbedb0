// connection_set.h: serves one worker's connections: events, deadlines, turns, lingering.   Internal.
// Threads:    the owning worker.
// Owns:       the connections and their sockets.
// Bounds:     one turn per connection and tick; lingering ends by bytes, silence or time (base/limits.h).
// Errors:     adopt never throws: what fails costs that one connection and is counted.
// Ordering:   none.
// Invariants: INV-04, INV-10, INV-19, INV-21, INV-22.
// Not here:   accepting and handing off (acceptor.h), when to stop (serving_loop.h).
// Source:     own design.
#pragma once

#include <cstdint>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/unique_fd.h"
#include "flare/worker/connection.h"
#include "flare/worker/connection_table.h"
#include "flare/worker/loop_state.h"

namespace flare::inline FLARE_ABI {

class ConnectionSet {
 public:
  ConnectionSet(LoopState& loop, Protocol& protocol) : loop_(loop), protocol_(protocol) {}
  ConnectionSet(const ConnectionSet&) = delete;
  ConnectionSet& operator=(const ConnectionSet&) = delete;

  // Takes the socket over and opens the protocol on it. at_once: its first bytes may be there already; they are read
  // now, and a connection that this ends is never registered. True: it has ended.
  bool adopt(UniqueFd fd, int accepted_by, bool at_once) noexcept;
  void on_event(const Event& event);
  void on_timer(std::uint64_t handle);
  // One turn for each connection that asked for one.
  void run_turns();
  bool has_turns() const { return !turns_.empty(); }

  // Draining was seen: every connection is told once.
  void start_draining();
  // Tells those whose grace is over; returns when the next one's will be, kNever when all were told.
  MonoTime check_grace();
  bool any_unanswered();
  // Closes all that is left and counts it as cut; by_deadline: cutting did it, not a crash.
  void cut_all(bool by_deadline) noexcept;

  std::size_t live() const { return table_.live(); }
  // Descriptors that the loop took but that stand in no table yet: they count as live.
  void set_in_hand(std::size_t count);
  bool has_closed() const { return closed_; }
  // Something else than a close made room that a paused peer may wait for.
  void note_freed() { closed_ = true; }
  // True once after connections were closed, or after note_freed.
  bool take_closed() { return std::exchange(closed_, false); }

 private:
  template <class Call>
  void step(ConnectionSlot& slot, Call call);
  void apply(ConnectionSlot& slot, const Step& step);
  void want(ConnectionSlot& slot, int interest);
  void set_deadline(ConnectionSlot& slot, MonoTime deadline);
  void queue_turn(ConnectionSlot& slot);
  void start_linger(ConnectionSlot& slot, const Step& last);
  void discard(ConnectionSlot& slot);
  void finish(ConnectionSlot& slot, CloseReason reason) noexcept;
  void release(ConnectionSlot& slot) noexcept;
  void tell_draining(ConnectionSlot& slot);
  void publish_live() noexcept;
  Wire wire(const ConnectionSlot& slot) const;

  LoopState& loop_;
  Protocol& protocol_;
  ConnectionTable table_;
  std::vector<std::uint64_t> turns_;
  std::vector<std::uint64_t> turns_now_;
  std::size_t in_hand_ = 0;
  bool closed_ = false;
};

}  // namespace flare::inline FLARE_ABI
