// serving_loop.h: one worker's loop: adopt, accept, hand off, serve, time out, drain.  Public header.
// Threads:    the worker that constructed it.
// Owns:       the worker's reactor, timers and connections.
// Bounds:     a tick does bounded work: accept_budget accepts, max_events events, one turn per connection.
// Errors:     run throws what broke the poller or a listener; by then its connections were cut, its listeners and queue
//             given away (worker_exit.h), and all of it counted.
// Ordering:   a tick: stop cell, queue, load, poll, accept, timers, events, turns (decision 13).
// Invariants: INV-04, INV-06, INV-14, INV-16, INV-17, INV-21, INV-22.
// Not here:   threads and reports (scheduler/).
// Source:     seeds, flare.runtime.scheduler (Frontend::run_worker) and handoff ("top of every reactor tick").
#pragma once

#include <vector>

#include "flare/base/abi.h"
#include "flare/base/thread_role.h"
#include "flare/worker/acceptor.h"
#include "flare/worker/connection_set.h"
#include "flare/worker/loop_state.h"

namespace flare::inline FLARE_ABI {

class ServingLoop {
 public:
  ServingLoop(WorkerContext& context, Protocol& protocol);
  void run();

 private:
  void tick() FLARE_REQUIRES(role_);
  int sleep_and_poll(const StopCell::View& stop) FLARE_REQUIRES(role_);
  int poll_timeout(const StopCell::View& stop) const;
  void dispatch_timers() FLARE_REQUIRES(role_);
  void dispatch_events() FLARE_REQUIRES(role_);
  void enter_draining() FLARE_REQUIRES(role_);
  MonoTime accept_grace_over(const StopCell::View& stop) const;
  // True when nothing is left to do.
  bool drain_tick(const StopCell::View& stop) FLARE_REQUIRES(role_);
  void cut() FLARE_REQUIRES(role_);
  void crash() noexcept FLARE_REQUIRES(role_);

  WorkerRole role_;
  LoopState loop_;
  ConnectionSet connections_;
  Acceptor acceptor_;
  std::vector<Event> events_;
  MonoTime next_grace_ = kNever;
  bool accept_now_ = false;
  bool done_ = false;
};

}  // namespace flare::inline FLARE_ABI
