// worker_exit.h: what a worker that leaves early does with what only it holds.        Internal.
// Threads:    the leaving worker.
// Owns:       each descriptor that it is given, until a peer's queue takes it.
// Bounds:     limits::kAcceptDryMax accepts.
// Errors:     none, and no memory is needed: what no peer takes is closed and counted as cut.
// Ordering:   the queue is closed before it is emptied, so that nothing is pushed in between.
// Invariants: INV-04, INV-07, INV-11, INV-22.
// Not here:   live connections (ConnectionSet::cut_all), the crash's text (WorkerStats).
// Source:     decision 24.
#pragma once

#include "flare/base/abi.h"
#include "flare/base/unique_fd.h"
#include "flare/worker/worker_context.h"

namespace flare::inline FLARE_ABI {

// Pushes fd to the peer with the least load, with a wake; no peer takes it: closed and counted as cut.
void give_away(WorkerContext& context, UniqueFd fd, int accepted_by) noexcept;
// Closes the worker's queue, accepts its own listeners dry and disables them, and gives all of that away. A shared
// listener stays open; every peer is asked to look at it. Idempotent.
void evacuate(WorkerContext& context) noexcept;

}  // namespace flare::inline FLARE_ABI
