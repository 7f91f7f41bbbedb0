// serving_options.h: what an embedder can set about a worker's loop.                  Public header.
// Threads:    a value type, fixed before the first worker starts.
// Owns:       nothing.
// Bounds:     each field says its range; Scheduler::start refuses others with NetworkError(EINVAL).
// Errors:     none.
// Ordering:   none.
// Invariants: none.
// Not here:   HTTP limits (http/http_config.h).
// Source:     own design.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/base/limits.h"

namespace flare::inline FLARE_ABI {

// Called from any thread with one line without a newline. Must not throw and not call back into the runtime. What it
// captures must outlive every worker, also one that was stuck and left behind: such a worker reports its own end, which
// may be long after the drain returned and the Scheduler was destroyed. So capture counted pointers, not references.
using ErrorSink = std::function<void(std::string_view)>;

struct ServingOptions {
  int max_connections = 0;                                // per worker, live and lingering; 0: no cap. 0..1'000'000
  int accept_budget = limits::kAcceptBudget;              // accepts in one tick; 1..65536
  int max_events = limits::kLoopMaxEvents;                // events in one poll; 1..65536
  std::chrono::milliseconds poll_cap = limits::kPollCap;  // longest sleep; negative: none (tests of wakes)
  ErrorSink error_sink;                                   // empty: stderr, at most 10 lines a second
};

}  // namespace flare::inline FLARE_ABI
