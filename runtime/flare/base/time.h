// time.h: points and spans of monotonic time.                                         Public header.
// Threads:    value types.
// Owns:       nothing.
// Bounds:     kNever is later than every deadline.
// Errors:     none. Conversions saturate.
// Ordering:   none.
// Invariants: rounding never makes a timer fire early (INV-19): a time is rounded down, a deadline up.
// Not here:   reading the clock (kernel/system_kernel.h).
// Source:     own design.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

// The tag of the monotonic clock. It has no now(): time comes through the kernel's door only.
struct MonoClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<MonoClock, duration>;
  static constexpr bool is_steady = true;
};

using Duration = std::chrono::nanoseconds;
using MonoTime = MonoClock::time_point;

inline constexpr MonoTime kNever = MonoTime::max();

// start + span, kNever when that is past the end of time.
constexpr MonoTime saturating_add(MonoTime start, Duration span) {
  const std::int64_t now = start.time_since_epoch().count();
  const std::int64_t add = span.count();
  if (add > 0 && now > std::numeric_limits<std::int64_t>::max() - add) return kNever;
  return start + span;
}

// Whole milliseconds since the clock's epoch: a time rounded down, a deadline rounded up.
constexpr std::uint64_t floor_ms(MonoTime time) {
  const std::int64_t ns = time.time_since_epoch().count();
  return ns <= 0 ? 0 : static_cast<std::uint64_t>(ns) / 1'000'000U;
}
constexpr std::uint64_t ceil_ms(MonoTime time) {
  const std::int64_t ns = time.time_since_epoch().count();
  return ns <= 0 ? 0 : (static_cast<std::uint64_t>(ns) + 999'999U) / 1'000'000U;
}

}  // namespace flare::inline FLARE_ABI
