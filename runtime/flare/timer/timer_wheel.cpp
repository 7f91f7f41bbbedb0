#include "flare/timer/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "flare/base/assert.h"

namespace flare::inline FLARE_ABI {

namespace {

constexpr std::uint64_t kEndOfTime = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kLastGeneration = std::numeric_limits<std::uint32_t>::max();

}  // namespace

TimerWheel::TimerWheel(std::uint64_t now_ms) : now_(now_ms) {}

TimerId TimerWheel::schedule_at(std::uint64_t deadline_ms, std::uint64_t token) {
  const std::uint32_t index = allocate();
  Entry& entry = entries_[index];
  entry.deadline = deadline_ms;
  entry.token = token;
  ++pending_;
  if (deadline_ms <= now_) {
    insert_by_deadline(kOverdue, index);
  } else {
    if (earliest_known_ && deadline_ms < earliest_) earliest_ = deadline_ms;
    place(index);
  }
  return TimerId{static_cast<std::uint64_t>(entry.generation) << 32 | index};
}

TimerId TimerWheel::schedule(std::uint64_t delay_ms, std::uint64_t token) {
  return schedule_at(delay_ms > kEndOfTime - now_ ? kEndOfTime : now_ + delay_ms, token);
}

bool TimerWheel::cancel(TimerId id) {
  const auto index = static_cast<std::uint32_t>(id.value);
  if (index >= entries_.size()) return false;
  const Entry& entry = entries_[index];
  if (entry.list == kNoList || entry.generation != id.value >> 32) return false;
  if (entry.list < kDue && earliest_known_ && entry.deadline == earliest_) earliest_known_ = false;
  unlink(index);
  release(index);
  return true;
}

std::optional<std::uint64_t> TimerWheel::next_deadline_ms() const {
  if (pending_ == 0) return std::nullopt;
  // What an interrupted pass left, or what was scheduled too late, is earlier than anything in the slots.
  const std::uint32_t due = lists_[kDue].first;
  const std::uint32_t overdue = lists_[kOverdue].first;
  if (due != kNone || overdue != kNone) {
    std::uint64_t first = kEndOfTime;
    if (due != kNone) first = entries_[due].deadline;
    if (overdue != kNone) first = std::min(first, entries_[overdue].deadline);
    return first;
  }
  if (earliest_known_) return earliest_;
  const std::uint32_t slot = earliest_slot();
  std::uint32_t index = lists_[slot].first;
  earliest_ = entries_[index].deadline;
  if (!is_sorted(slot)) {
    for (; index != kNone; index = entries_[index].next) earliest_ = std::min(earliest_, entries_[index].deadline);
  }
  earliest_known_ = true;
  return earliest_;
}

// Moves everything that is due into one list and sets the time before the first callback runs: what a callback
// schedules can then never join this pass.
void TimerWheel::begin_pass(std::uint64_t now_ms) {
  if (lists_[kOverdue].first != kNone) merge_overdue();
  now_ms = std::max(now_ms, now_);
  for (;;) {
    const std::uint32_t slot = earliest_slot();
    if (slot == kNone || slot_start(slot) > now_ms) break;
    collect_slot(slot, now_ms);
  }
  now_ = now_ms;
}

// Enters the earliest slot: at level 0 its timers are due, above they move down, seen from the new time.
void TimerWheel::collect_slot(std::uint32_t list, std::uint64_t now_ms) {
  const std::uint64_t start = slot_start(list);
  const bool sorted = is_sorted(list);
  const List taken = take_slot(list);
  if (list < kSlots) {
    now_ = start;
    earliest_known_ = false;
    for (std::uint32_t index = taken.first; index != kNone;) {
      const std::uint32_t next = entries_[index].next;
      append(kDue, index);
      index = next;
    }
    return;
  }
  // Nothing is earlier than this slot, so time may jump to the first deadline in it, which saves the levels between.
  const std::uint64_t first_deadline = entries_[taken.first].deadline;
  now_ = sorted ? std::min(now_ms, first_deadline) : start;
  if (taken.first == taken.last && first_deadline <= now_ms) {
    earliest_known_ = false;
    append(kDue, taken.first);
    return;
  }
  for (std::uint32_t index = taken.first; index != kNone;) {
    const std::uint32_t next = entries_[index].next;
    place(index);
    index = next;
  }
}

// Left over by a callback that threw, and scheduled too late since: one list, by deadline.
void TimerWheel::merge_overdue() {
  for (std::uint32_t index = lists_[kOverdue].first; index != kNone;) {
    const std::uint32_t next = entries_[index].next;
    insert_by_deadline(kDue, index);
    index = next;
  }
  lists_[kOverdue] = List{};
}

// The entry is free before its callback runs: the callback may throw, schedule, or cancel its own id in vain.
bool TimerWheel::take_due(std::uint64_t& token) {
  const std::uint32_t index = lists_[kDue].first;
  if (index == kNone) return false;
  token = entries_[index].token;
  const std::uint32_t next = entries_[index].next;
  lists_[kDue].first = next;
  (next == kNone ? lists_[kDue].last : entries_[next].previous) = kNone;
  release(index);
  return true;
}

std::uint32_t TimerWheel::earliest_slot() const {
  if (occupied_levels_ == 0) return kNone;
  const auto level = static_cast<std::uint32_t>(std::countr_zero(occupied_levels_));
  const Bitmap& bitmap = occupied_[level];
  std::uint32_t word = 0;
  while (bitmap[word] == 0) ++word;
  return level * kSlots + word * 64 + static_cast<std::uint32_t>(std::countr_zero(bitmap[word]));
}

std::uint64_t TimerWheel::slot_start(std::uint32_t list) const {
  const std::uint32_t shift = list / kSlots * kBits;
  const std::uint64_t below = (static_cast<std::uint64_t>(kSlots) << shift) - 1;  // wraps to all ones at the top level
  const std::uint64_t digit = list % kSlots;
  return (now_ & ~below) | digit << shift;
}

TimerWheel::List TimerWheel::take_slot(std::uint32_t list) {
  const List taken = lists_[list];
  lists_[list] = List{};
  const std::uint32_t level = list / kSlots;
  const std::uint32_t slot = list % kSlots;
  Bitmap& bitmap = occupied_[level];
  bitmap[slot / 64] &= ~(1ULL << slot % 64);
  unsorted_[level][slot / 64] &= ~(1ULL << slot % 64);
  if ((bitmap[0] | bitmap[1] | bitmap[2] | bitmap[3]) == 0) occupied_levels_ &= ~(1U << level);
  return taken;
}

bool TimerWheel::is_sorted(std::uint32_t list) const {
  return (unsorted_[list / kSlots][list % kSlots / 64] >> list % 64 & 1U) == 0;
}

std::uint32_t TimerWheel::allocate() {
  if (free_ != kNone) {
    const std::uint32_t index = free_;
    free_ = entries_[index].next;
    return index;
  }
  FLARE_ASSERT(entries_.size() < kNone, "2^32-1 timers are pending at once");
  entries_.emplace_back();
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

// An entry that has used its last generation stays unused: an id is never given twice.
void TimerWheel::release(std::uint32_t index) {
  --pending_;
  Entry& entry = entries_[index];
  entry.list = kNoList;
  if (entry.generation == kLastGeneration) return;
  ++entry.generation;
  entry.next = free_;
  free_ = index;
}

// The slot of a deadline that is not before now.
void TimerWheel::place(std::uint32_t index) {
  const std::uint64_t deadline = entries_[index].deadline;
  const auto top = static_cast<std::uint32_t>(std::bit_width((deadline ^ now_) | 1U)) - 1;
  const std::uint32_t level = top / kBits;
  const auto slot = static_cast<std::uint32_t>(deadline >> level * kBits) % kSlots;
  const std::uint32_t list = level * kSlots + slot;
  const std::uint32_t last = lists_[list].last;
  if (last == kNone) {
    occupied_levels_ |= 1U << level;
    occupied_[level][slot / 64] |= 1ULL << slot % 64;
  } else if (entries_[last].deadline > deadline) {
    unsorted_[level][slot / 64] |= 1ULL << slot % 64;
  }
  append(list, index);
}

void TimerWheel::append(std::uint32_t list, std::uint32_t index) {
  List& ends = lists_[list];
  Entry& entry = entries_[index];
  entry.list = list;
  entry.next = kNone;
  entry.previous = ends.last;
  (ends.last == kNone ? ends.first : entries_[ends.last].next) = index;
  ends.last = index;
}

void TimerWheel::insert_by_deadline(std::uint32_t list, std::uint32_t index) {
  const std::uint64_t deadline = entries_[index].deadline;
  List& ends = lists_[list];
  std::uint32_t before = ends.last;
  while (before != kNone && entries_[before].deadline > deadline) before = entries_[before].previous;
  const std::uint32_t after = before == kNone ? ends.first : entries_[before].next;
  entries_[index].list = list;
  entries_[index].previous = before;
  entries_[index].next = after;
  (before == kNone ? ends.first : entries_[before].next) = index;
  (after == kNone ? ends.last : entries_[after].previous) = index;
}

void TimerWheel::unlink(std::uint32_t index) {
  const Entry& entry = entries_[index];
  List& ends = lists_[entry.list];
  (entry.previous == kNone ? ends.first : entries_[entry.previous].next) = entry.next;
  (entry.next == kNone ? ends.last : entries_[entry.next].previous) = entry.previous;
  if (ends.first == kNone && entry.list < kDue) take_slot(entry.list);
}

}  // namespace flare::inline FLARE_ABI
