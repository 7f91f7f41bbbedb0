// handoff_queue.h: bounded queue of opaque tokens from any worker to one owner.       Public header.
// Threads:    push, size, close_and_drain, counters: any thread. pop, drain: the owning worker.
// Owns:       nothing. A token is a number; whoever pops it must adopt or close the fd that it names.
// Bounds:     capacity tokens, memory fixed at construction.
// Errors:     push returns false when full or closed. Nothing throws after construction, but drain() that
// returns a new
//             vector (std::bad_alloc, and then nothing was taken).
// Ordering:   what happened before a successful push is visible to the thread whose pop returns that token.
// Invariants: INV-01, INV-02, INV-03, INV-07.
// Not here:   waking the owner (Waker), choosing it (WorkerHandoffPool).
// Source:     seeds, flare.runtime.handoff.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/limits.h"
#include "flare/base/sync.h"

namespace flare::inline FLARE_ABI {

class HandoffQueue {
 public:
  HandoffQueue();
  explicit HandoffQueue(int capacity);
  // ... to be completed.
};

}  // namespace flare::inline FLARE_ABI
