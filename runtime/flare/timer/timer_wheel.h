// timer_wheel.h: deadlines of one worker, in milliseconds.                            Public header.
// Threads:    the owning worker.
// Owns:       its entries; a token is a number of the caller's.
// Bounds:     any delay up to 2^64-1 ms (saturating); memory grows with the pending timers only.
// Errors:     none; std::bad_alloc from schedule leaves the wheel as it was.
// Ordering:   timers fire in the order of their deadlines, equal ones in the order in which they were
// scheduled. Invariants: INV-19. Not here:   the clock: the caller says what time it is. Source:     seeds,
// flare.runtime.reactor ("That is TimerWheel").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

// Names one scheduled timer for ever: an id is never used again. 0 names none.
struct TimerId {
  std::uint64_t value = 0;
};

class TimerWheel {
 public:
  explicit TimerWheel(std::uint64_t now_ms = 0);
  // Fires with token in the first advance to deadline_ms or later.
  TimerId schedule_at(std::uint64_t deadline_ms, std::uint64_t token);
  TimerId schedule(std::uint64_t delay_ms, std::uint64_t token);  // from the last advance
  // True: it will not fire. False: it fired, was cancelled, or never was.
  bool cancel(TimerId id);
  // Calls on_expired(token) for each timer whose deadline has come. The callback may schedule and cancel;
  // what it schedules for now or earlier fires in the next advance.  Returns how many fired.
  template <class OnExpired>
  std::size_t advance(std::uint64_t now_ms, OnExpired&& on_expired);
  // The earliest pending deadline (exact).
  std::optional<std::uint64_t> next_deadline_ms() const;
  std::size_t pending() const;
};

}  // namespace flare::inline FLARE_ABI
