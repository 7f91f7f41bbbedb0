// waker.h: makes a sleeping poll return, from any thread.                             Public header.
// Threads:    wake: any thread, and a signal handler. clear: the thread that polls.
// Owns:       the wake descriptor; it closes with the last holder of the Waker.
// Bounds:     wakes coalesce; a full counter never blocks a waker.
// Errors:     the constructor throws NetworkError. wake and clear have none: a full counter is a wake that stands.
// Ordering:   wake happens before the poll that it ends.
// Invariants: INV-20: a wake is never lost and never lands on a reused number.
// Not here:   when to skip a wake (handoff/worker_handoff_pool.h).
// Source:     seeds, flare.runtime.reactor (wakeup, wake_fd).
#pragma once

#include "flare/base/abi.h"
#include "flare/base/unique_fd.h"

namespace flare::inline FLARE_ABI {

class Waker {
 public:
  Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void wake() const noexcept;
  void clear() const noexcept;
  int fd() const noexcept { return fd_.get(); }

 private:
  UniqueFd fd_;
};

}  // namespace flare::inline FLARE_ABI
