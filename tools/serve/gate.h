// gate.h: holds the workers back until the server has said where it listens; the kernel keeps who comes sooner.
// Threads: wait: the workers; open: the main thread.
#pragma once

#include <time.h>

#include <utility>

#include "flare/base/sync.h"
#include "flare/scheduler/scheduler.h"

namespace flare::tools {

class Gate {
 public:
  void open() { open_.store(true, std::memory_order_relaxed); }
  // A stop ends the wait, too: a start that fails half way joins the workers that it had started.
  void wait(const StopCell& stop) const {
    const timespec one_ms{0, 1'000'000};
    while (!open_.load(std::memory_order_relaxed) && stop.is_running()) ::nanosleep(&one_ms, nullptr);
  }

 private:
  Atomic<bool> open_{false};  // relaxed: it carries nothing but itself
};

// A frontend whose workers serve nobody before the gate is open.
template <Frontend F>
class Gated {
 public:
  Gated(F inner, Shared<const Gate> gate) : inner_(std::move(inner)), gate_(std::move(gate)) {}
  bool requires_per_worker_listener() const { return inner_.requires_per_worker_listener(); }
  void run_worker(WorkerContext& context) {
    gate_->wait(context.stop_cell());
    inner_.run_worker(context);
  }

 private:
  F inner_;
  Shared<const Gate> gate_;  // shared: a detached worker may outlive everything else
};

}  // namespace flare::tools
