// production_calls.h: how many calls of the system a scenario of the lifecycle makes on real threads and sockets.
//
// unit_scheduler_calls runs each scenario's twin, counts, and fails when it counts more than stands here; sim_lifecycle
// fails when a schedule of the scenario has fewer steps than stands here. So neither can drift away from the other.
// The clients' calls count on both sides. How often a worker wakes and polls, and whether it serves a client before the
// stop reaches it, depends on how the threads meet: each number is the most that was seen, a quarter or more added.
#pragma once

#include <string_view>

namespace flare::testing {

struct ProductionCalls {
  const char* scenario;
  long calls;
};

inline constexpr ProductionCalls kProductionCalls[] = {
    {"lifecycle.per-worker.shutdown", 140},
    {"lifecycle.per-worker.stop-before-first-poll", 90},
    {"lifecycle.per-worker.drain", 135},
    {"lifecycle.per-worker.drain-zero", 140},
    {"lifecycle.per-worker.drain-stuck", 110},
    {"lifecycle.per-worker.cap", 150},
    {"lifecycle.per-worker.handoff", 125},
    {"lifecycle.shared.shutdown", 125},
    {"lifecycle.shared.stop-before-first-poll", 80},
    {"lifecycle.shared.drain", 115},
    {"lifecycle.shared.drain-zero", 125},
    {"lifecycle.shared.drain-stuck", 95},
    {"lifecycle.shared.cap", 130},
    {"lifecycle.shared.handoff", 105},
};

// 0: the scenario has no twin.
constexpr long production_calls_of(std::string_view scenario) {
  for (const ProductionCalls& one : kProductionCalls) {
    if (scenario == one.scenario) return one.calls;
  }
  return 0;
}

}  // namespace flare::testing
