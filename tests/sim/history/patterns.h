// patterns.h: judges a long history of a FIFO queue with unique values in O(n log n), by patterns that no queue shows.
// Exact for push, pop and an empty pop of an unbounded queue: linearizable if and only if none of fresh, repeat, order
// and witness is there. For the rest (drain, close, size, refusals) each pattern is a proof of a defect, but not every
// defect shows one; windows.h is exact for those, on short stretches.
// Threads:  none of its own. Input: complete operations only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "history/long_history.h"

namespace flare::sim {

enum class Pattern : std::uint8_t {
  kNone,
  kFresh,      // a value is taken that was not pushed before
  kRepeat,     // a value is taken twice
  kOrder,      // pushed a before b, but taken b before a, or a never
  kWitness,    // nothing found although something was inside at every instant
  kFull,       // refused although at no instant there was reason to
  kOverflow,   // accepted although it was full at every instant
  kSize,       // a size that it had at no instant
  kClosed,     // accepted, or something taken, after a close
  kNotJudged,  // a value is pushed twice, or an operation never returned: nothing is said
};

struct PatternVerdict {
  Pattern pattern = Pattern::kNone;
  std::string text;  // the operations that show it

  bool ok() const { return pattern == Pattern::kNone; }
};

// Defects that the tests ask for.
struct PatternFaults {
  bool no_fresh = false;
  bool no_repeat = false;
  bool no_order = false;
  bool no_witness = false;
  bool order_without_lost = false;  // a value that is never taken has no place in the order
  bool witness_alone = false;       // one value must cover the empty pop alone
  bool late_fresh = false;          // a pop that ends before the push of its value begins is fine
  bool order_by_calls = false;      // of two pushes the one that was called first is first
  bool bounds_off_by_one = false;   // the queue is thought to hold one value less than possible
};

const char* name_of(Pattern pattern);

PatternVerdict judge_by_patterns(const LongHistory& history, std::size_t capacity, const PatternFaults& faults = {});

}  // namespace flare::sim
