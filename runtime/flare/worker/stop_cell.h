// stop_cell.h: the word that stops all workers: running, draining until a deadline, cut.   Public header.
// Threads:    all of it: any thread. request, cut: a signal handler too (one lock-free word).
// Owns:       nothing.
// Bounds:     none.
// Errors:     none.
// Ordering:   every change is a release (read-modify-write), every read an acquire: what happened before a stop is
//             visible to the worker that reads it. Re-read in every iteration of every loop.
// Invariants: INV-16: the value only ever gets nearer to cut, and the cell outlives whoever can read it.
// Not here:   waking the workers (every change is followed by a wake of all, scheduler/).
// Source:     seeds, flare.runtime.scheduler (stopping flag).
#pragma once

#include <cstdint>
#include <limits>

#include "flare/base/abi.h"
#include "flare/base/sync.h"
#include "flare/base/time.h"

namespace flare::inline FLARE_ABI {

enum class StopPhase { kRunning, kDraining, kCut };

class StopCell {
 public:
  struct View {
    StopPhase phase;
    MonoTime deadline;  // draining: when it turns into cut; kNever: not set yet
  };

  // The phase at time now: a draining whose deadline has come reads as cut.
  View read(MonoTime now) const {
    const std::int64_t word =
        word_.load(FLARE_MUTANT(kStopCellRelaxed) ? std::memory_order_relaxed : std::memory_order_acquire);
    if (word == kRunningWord) return {StopPhase::kRunning, kNever};
    if (word == kOpenWord) return {StopPhase::kDraining, kNever};
    const MonoTime deadline{Duration{word}};
    if (word == kCutWord || now >= deadline) return {StopPhase::kCut, deadline};
    return {StopPhase::kDraining, deadline};
  }
  bool is_running() const { return word_.load(std::memory_order_acquire) == kRunningWord; }
  // request_stop: running -> draining without a deadline; draining -> cut. True if it changed something.
  bool request() {
    std::int64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      const std::int64_t next = word == kRunningWord ? kOpenWord : kCutWord;
      if (word == next) return false;
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_acquire)) return true;
    }
  }
  // Draining until deadline, or until the deadline that is already set when that is nearer.
  bool drain_until(MonoTime deadline) {
    const std::int64_t wanted = deadline.time_since_epoch().count();
    return lower(wanted < 1 ? 1 : wanted >= kOpenWord ? kOpenWord - 1 : wanted);
  }
  bool cut() { return lower(kCutWord); }

 private:
  static constexpr std::int64_t kRunningWord = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kOpenWord = kRunningWord - 1;
  static constexpr std::int64_t kCutWord = 0;

  // The word only falls: a nearer deadline is a smaller number, cut the smallest.
  bool lower(std::int64_t wanted) {
    std::int64_t word = word_.load(std::memory_order_acquire);
    while (word > wanted) {
      if (word_.compare_exchange_weak(word, wanted, std::memory_order_acq_rel, std::memory_order_acquire)) return true;
    }
    return false;
  }

  Atomic<std::int64_t> word_{kRunningWord};
};

}  // namespace flare::inline FLARE_ABI
