// loop_state.h: what the parts of one worker's loop share.                            Internal.
// Threads:    the owning worker.
// Owns:       the worker's reactor, timers and read buffer.
// Bounds:     one scratch buffer of limits::kScratchBytes.
// Errors:     the constructor throws NetworkError.
// Ordering:   none.
// Invariants: none.
// Not here:   the parts themselves (serving_loop.h, connection_set.h, acceptor.h).
// Source:     own design.
#pragma once

#include <memory>

#include "flare/base/abi.h"
#include "flare/base/limits.h"
#include "flare/base/time.h"
#include "flare/kernel/system_kernel.h"
#include "flare/reactor/reactor.h"
#include "flare/timer/timer_wheel.h"
#include "flare/worker/worker_context.h"

namespace flare::inline FLARE_ABI {

struct LoopState {
  explicit LoopState(WorkerContext& worker)
      : context(worker),
        reactor(worker.waker()),
        now(SystemKernel::now()),
        wheel(floor_ms(now)),
        scratch(std::make_unique<char[]>(limits::kScratchBytes)) {}

  WorkerContext& context;
  Reactor reactor;
  MonoTime now;  // read after the last poll
  TimerWheel wheel;
  std::unique_ptr<char[]> scratch;
  bool batch_full = false;  // the last poll gave as many events as it may: others may have been left out
  bool draining = false;    // this worker has seen it
  MonoTime drain_started{};
  Duration grace = limits::kMaxGrace;  // of a drain; it shrinks once its deadline is known
};

}  // namespace flare::inline FLARE_ABI
