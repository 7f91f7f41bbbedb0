// thread_role.h: "only this thread may", said to the compiler and checked at run time.   Public header.
// Threads:    enter, leave: the thread that takes the role. assert_current: any.
// Owns:       nothing.
// Bounds:     none.
// Errors:     a wrong thread aborts.
// Ordering:   none; a role is no lock.
// Invariants: what a role guards is touched by one thread at a time.
// Not here:   locks (base/sync.h).
// Source:     own design.
#pragma once

#include "flare/base/abi.h"
#include "flare/base/assert.h"
#include "flare/base/sync.h"
#include "flare/base/thread_annotations.h"

namespace flare::inline FLARE_ABI {

// The right to run one worker's loop. Constructed anywhere; held by the thread that entered it.
class FLARE_CAPABILITY("role") WorkerRole {
 public:
  void enter() FLARE_ACQUIRE() {
    owner_ = current_thread_id();
    held_ = true;
  }
  void leave() FLARE_RELEASE() { held_ = false; }
  void assert_current() const FLARE_ASSERT_CAPABILITY(this) {
    FLARE_ASSERT(held_ && same_thread(owner_, current_thread_id()), "called from a thread without the worker's role");
  }

 private:
  ThreadId owner_{};
  bool held_ = false;
};

}  // namespace flare::inline FLARE_ABI
