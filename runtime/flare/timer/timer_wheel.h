// timer_wheel.h: deadlines of one worker, in milliseconds.                            Public header.
// Threads:    the owning worker.
// Owns:       its entries; a token is a number of the caller's.
// Bounds:     any delay up to 2^64-1 ms (saturating); memory grows with the most timers ever pending at once.
// Errors:     none; std::bad_alloc from schedule leaves the wheel as it was.
// Ordering:   timers fire in the order of their deadlines, equal ones in the order in which they were scheduled.
// Invariants: INV-19.
// Not here:   the clock: the caller says what time it is.
// Source:     seeds, flare.runtime.reactor ("That is TimerWheel").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

// Names one scheduled timer for ever: an id is never used again. 0 names none.
struct TimerId {
  std::uint64_t value = 0;
};

// How it works. A deadline is read as eight digits of 8 bits. A timer stands at the level of the highest digit in
// which its deadline differs from now, in the slot of that digit; so the lowest level that holds anything holds the
// earliest deadline, bitmaps find the slot without a walk, and time jumps from one occupied slot to the next. When
// time enters a slot its timers move to lower levels in the order in which they stood: timers of one deadline always
// share a slot, which is why equal deadlines keep their order.
class TimerWheel {
 public:
  explicit TimerWheel(std::uint64_t now_ms = 0);
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Fires with token in the first advance to deadline_ms or later. A deadline that has passed already costs one step
  // for each other timer that has passed too and has a later deadline. 2^64-1 is the end of time: no clock gets there.
  TimerId schedule_at(std::uint64_t deadline_ms, std::uint64_t token);
  TimerId schedule(std::uint64_t delay_ms, std::uint64_t token);  // from the last advance
  // True: it will not fire. False: it fired, was cancelled, or never was.
  bool cancel(TimerId id);
  // Calls on_expired(token) for each timer whose deadline has come. The callback may schedule and cancel; what it
  // schedules for now or earlier fires in the next advance; what it cancels does not fire, even if it was due. A time
  // before the last one counts as the last one. Returns how many fired. When the callback throws, its own timer is
  // gone and the rest of the pass stays pending and fires first in the next advance.
  template <class OnExpired>
  std::size_t advance(std::uint64_t now_ms, OnExpired&& on_expired) {
    begin_pass(now_ms);
    std::size_t fired = 0;
    for (std::uint64_t token = 0; take_due(token); ++fired) on_expired(token);
    return fired;
  }
  // The earliest pending deadline (exact). Looks through one slot at most, and only if neither the last answer nor
  // the slot's order gives it.
  std::optional<std::uint64_t> next_deadline_ms() const;
  std::size_t pending() const { return pending_; }

 private:
  static constexpr std::uint32_t kBits = 8;
  static constexpr std::uint32_t kSlots = 1U << kBits;  // of one level
  static constexpr std::uint32_t kLevels = 64 / kBits;
  static constexpr std::uint32_t kWords = kSlots / 64;
  // Lists are numbered: the slots, then those that are due in this pass, then those that wait for the next one.
  static constexpr std::uint32_t kDue = kSlots * kLevels;
  static constexpr std::uint32_t kOverdue = kDue + 1;
  static constexpr std::uint32_t kLists = kOverdue + 1;
  static constexpr std::uint32_t kNoList = kLists;  // the entry is free
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Entry {
    std::uint64_t deadline = 0;
    std::uint64_t token = 0;
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;
    std::uint32_t generation = 1;
    std::uint32_t list = kNoList;
  };
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  using Bitmap = std::array<std::uint64_t, kWords>;

  void begin_pass(std::uint64_t now_ms);
  bool take_due(std::uint64_t& token);
  void collect_slot(std::uint32_t list, std::uint64_t now_ms);
  void merge_overdue();
  std::uint32_t earliest_slot() const;  // kNone when no slot is occupied
  std::uint64_t slot_start(std::uint32_t list) const;
  List take_slot(std::uint32_t list);
  std::uint32_t allocate();
  void release(std::uint32_t index);
  void place(std::uint32_t index);
  void append(std::uint32_t list, std::uint32_t index);
  void insert_by_deadline(std::uint32_t list, std::uint32_t index);
  void unlink(std::uint32_t index);
  bool is_sorted(std::uint32_t list) const;

  std::uint64_t now_;
  std::size_t pending_ = 0;
  std::uint32_t free_ = kNone;
  std::uint32_t occupied_levels_ = 0;       // bit L: some slot of level L is occupied
  std::array<Bitmap, kLevels> occupied_{};  // bit S of level L: the slot holds something
  std::array<Bitmap, kLevels> unsorted_{};  // bit S of level L: the slot's deadlines do not only rise
  mutable bool earliest_known_ = false;     // the earliest deadline in the slots is earliest_
  mutable std::uint64_t earliest_ = 0;
  std::array<List, kLists> lists_{};
  std::vector<Entry> entries_;
};

}  // namespace flare::inline FLARE_ABI
