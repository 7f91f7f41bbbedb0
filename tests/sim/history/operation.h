// operation.h: one operation on a bounded FIFO queue, as a history records it.
#pragma once

#include <cstdint>
#include <limits>

namespace flare::sim {

enum class OpKind : std::uint8_t { kPush, kPop, kDrain, kClose, kSize };  // kClose: close_and_drain

enum class Outcome : std::uint8_t {
  kPending,        // called, never returned: it may have taken effect or not
  kOk,             // push: accepted. pop: a value. drain, close: a list. size: a number
  kEmpty,          // pop only
  kRefusedFull,    // push only
  kRefusedClosed,  // push only
  kRefused,        // push only: full or closed, the caller was not told which
};

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

struct Operation {
  OpKind kind = OpKind::kPush;
  Outcome outcome = Outcome::kPending;
  std::uint16_t thread = 0;
  std::uint32_t list_size = 0;  // drain, close: how many values it took
  std::uint64_t list_at = 0;    // and where they begin in the history's values
  std::int64_t value = 0;       // push: what it brings. pop: what it got. size: the number
  std::uint64_t call = 0;       // times, of any clock that never gives the same twice
  std::uint64_t ret = kNever;
};

// a ended before b began. Only then does real time order them.
inline bool precedes(const Operation& a, const Operation& b) {
  return a.ret < b.call;
}

}  // namespace flare::sim
