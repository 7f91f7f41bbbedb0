// handoff_policy.h: whether, how deep and from which skew on connections move.        Public header.
// Threads:    a value type; from_env: the control thread.
// Owns:       nothing.
// Bounds:     capacity >= 0; a threshold below 1 acts as 1.
// Errors:     a negative capacity throws NetworkError(EINVAL).
// Ordering:   none.
// Invariants: none.
// Not here:   the choice itself (worker_handoff_pool.h).
// Source:     seeds, flare.runtime.handoff.
#pragma once

#include <string>

#include "flare/base/abi.h"
#include "flare/base/limits.h"

namespace flare::inline FLARE_ABI {

struct HandoffPolicy {
  bool enabled = false;
  int capacity = limits::kDefaultHandoffCapacity;        // tokens in one worker's queue
  int steal_threshold = limits::kDefaultStealThreshold;  // smallest difference of loads at which a connection moves

  HandoffPolicy() = default;
  HandoffPolicy(bool enabled, int capacity, int steal_threshold);

  // FLARE_SOAK_WORKERS: "on", "1", "true" enable and set the threshold to 1. "off", "0", "false", "" and
  // unset leave initial as it is. Any other value does too and is reported in *report (if given): name,
  // value, what was expected.
  static HandoffPolicy from_env(HandoffPolicy initial, std::string* report = nullptr);
};

}  // namespace flare::inline FLARE_ABI
