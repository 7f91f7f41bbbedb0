// shutdown_report.h: what became of one worker's connections.                         Public header.
// Threads:    a value type, made by the control thread after the worker was joined or detached.
// Owns:       its text.
// Bounds:     none.
// Errors:     none.
// Ordering:   none.
// Invariants: identity(): accepted + received = finished + handed_out + cut + left; over all
//             workers handed_out = received.
// Not here:   live figures (worker/worker_stats.h).
// Source:     seeds, flare.runtime.scheduler (ShutdownReport); exact counts are our own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "flare/base/abi.h"
#include "flare/worker/worker_stats.h"

namespace flare::inline FLARE_ABI {

struct ShutdownReport {
  // The seed's fields.
  std::int64_t drained = 0;                // the part of finished after draining was seen and before the deadline
  std::int64_t timed_out = 0;              // the part of cut at the deadline
  std::int64_t in_flight_at_deadline = 0;  // timed_out + left
  int crashed = 0;
  // Lifetime counts.
  int worker = 0;
  int stuck = 0;
  std::int64_t accepted = 0, received = 0, handed_out = 0, refused = 0, finished = 0, cut = 0, left = 0;
  std::int64_t requests = 0;
  std::array<std::int64_t, kCloseReasons> by_reason{};
  std::string error;  // of a crashed worker

  bool identity() const { return accepted + received == finished + handed_out + cut + left; }
};

// Every worker's identity holds, and what was handed out was received.
bool adds_up(const std::vector<ShutdownReport>& reports);

}  // namespace flare::inline FLARE_ABI
