// loop_token.h: the numbers that a worker's poller, timers and queue carry.           Internal.
// Threads:    value types.
// Owns:       nothing. A handoff token names a descriptor that whoever takes the token owns.
// Bounds:     descriptors below 2^31, workers below 2^16, listeners below 2^15.
// Errors:     none.
// Ordering:   none.
// Invariants: D03 of the wake: a token says by itself what it is; a wake carries no meaning.
// Not here:   the table that the handles point into (connection_table.h).
// Source:     own design.
#pragma once

#include <cstdint>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

// A connection's handle has the top bit clear; everything else of the loop has it set.
enum class LoopTokenKind : std::uint32_t { kListener = 1, kAcceptRetry = 2, kTakeBack = 3 };

inline constexpr std::uint64_t kLoopTokenBit = std::uint64_t{1} << 63;

constexpr std::uint64_t loop_token(LoopTokenKind kind, std::uint32_t argument = 0) {
  return kLoopTokenBit | (static_cast<std::uint64_t>(kind) << 32) | argument;
}
constexpr bool is_connection_token(std::uint64_t token) {
  return (token & kLoopTokenBit) == 0;
}
constexpr LoopTokenKind loop_token_kind(std::uint64_t token) {
  return static_cast<LoopTokenKind>((token & ~kLoopTokenBit) >> 32);
}
constexpr std::uint32_t loop_token_argument(std::uint64_t token) {
  return static_cast<std::uint32_t>(token);
}

// What stands in a HandoffQueue: the descriptor, who accepted it and on which of its listeners.
struct HandoffToken {
  int fd;
  int accepted_by;
  int listener;

  constexpr std::int64_t pack() const {
    return static_cast<std::int64_t>(static_cast<std::uint32_t>(fd)) | (static_cast<std::int64_t>(accepted_by) << 32) |
           (static_cast<std::int64_t>(listener) << 48);
  }
  static constexpr HandoffToken unpack(std::int64_t token) {
    return {static_cast<int>(token & 0x7fffffff), static_cast<int>((token >> 32) & 0xffff),
            static_cast<int>((token >> 48) & 0x7fff)};
  }
};

}  // namespace flare::inline FLARE_ABI
