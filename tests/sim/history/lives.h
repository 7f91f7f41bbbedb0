// lives.h: what happened to each value of a long history: who pushed it, who took it. Internal to patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "history/patterns.h"

namespace flare::sim {

struct Life {
  std::int64_t value = 0;
  std::size_t push = 0;                             // operations
  std::size_t take = static_cast<std::size_t>(-1);  // none
  bool taken = false;
  std::uint64_t push_call = 0;
  std::uint64_t push_ret = 0;
  std::uint64_t take_call = kNever;
  std::uint64_t take_ret = kNever;
  std::uint64_t place = 0;  // in the list of the drain that took it
};

struct Lives {
  std::vector<Life> all;   // of accepted values, in the order of the values
  PatternVerdict verdict;  // not judged, fresh or repeat; all is whole if there is none
};

Lives lives_of(const LongHistory& history, const PatternFaults& faults);

// Each looks for one kind of pattern. Lives may be put into another order.
PatternVerdict find_order(const LongHistory& history, std::vector<Life>& lives, const PatternFaults& faults);
PatternVerdict find_witness(const LongHistory& history, std::vector<Life>& lives, const PatternFaults& faults);
PatternVerdict find_closed(const LongHistory& history, const std::vector<Life>& lives);
PatternVerdict find_bounds(const LongHistory& history, const std::vector<Life>& lives, std::size_t capacity,
                           const PatternFaults& faults);

PatternVerdict found(Pattern pattern, const LongHistory& history, std::initializer_list<std::size_t> operations);

}  // namespace flare::sim
