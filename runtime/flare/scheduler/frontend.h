// frontend.h: what a protocol must be so that a Scheduler can run it.                 Public header.
// Threads:    run_worker: each worker calls it once, on its own copy.
// Owns:       a copy per worker. What a handler captures by reference must outlive every worker, a detached one too.
// Bounds:     none.
// Errors:     what run_worker throws is a crash of that worker: counted, its text kept, its clients handed to peers.
// Ordering:   what happened before start is visible to run_worker.
// Invariants: none.
// Not here:   HTTP (http/http_frontend.h).
// Source:     seeds, flare.runtime.scheduler (Frontend).
#pragma once

#include <concepts>

#include "flare/base/abi.h"
#include "flare/worker/worker_context.h"

namespace flare::inline FLARE_ABI {

template <class F>
concept Frontend = std::copy_constructible<F> && requires(F frontend, const F& constant, WorkerContext& context) {
  { constant.requires_per_worker_listener() } -> std::convertible_to<bool>;
  { frontend.run_worker(context) } -> std::same_as<void>;
};

}  // namespace flare::inline FLARE_ABI
