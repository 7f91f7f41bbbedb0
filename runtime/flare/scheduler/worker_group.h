// worker_group.h: the workers of one scheduler, and what their threads and the control thread share.   Internal.
// Threads:    each member says so. A worker's thread holds the group until it ends, a detached one too.
// Owns:       all that a worker can still touch: cells, wakers, listeners.
// Bounds:     one entry per worker.
// Errors:     the constructor throws NetworkError.
// Ordering:   what a worker did happens before `returned` is read as true (release, acquire).
// Invariants: INV-11, INV-13, INV-15.
// Not here:   who may stop, and the report (scheduler_core.h).
// Source:     seeds, flare.runtime.scheduler.
#pragma once

#include <memory>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/sync.h"
#include "flare/reactor/waker.h"
#include "flare/worker/worker_context.h"

namespace flare::inline FLARE_ABI {

struct WorkerSeat {
  // The worker's thread stores its id, then `inside` (release); any thread reads `inside` (acquire), then the id.
  Checked<ThreadId> thread{};
  Atomic<bool> inside{false};
  // False from just before its thread starts. True again is the worker's last store (release): whoever reads it
  // (acquire) sees all that the worker did.
  Atomic<bool> returned{true};
};

struct WorkerGroup {
  explicit WorkerGroup(Shared<WorkerShared> state)
      : shared(std::move(state)), seats(static_cast<std::size_t>(shared->pool.size())), running(shared->pool.size()) {}

  const Shared<WorkerShared> shared;
  std::vector<WorkerSeat> seats;
  Atomic<int> running;  // workers that have not returned; acq_rel: the last one sees what the others did
  Waker progress;       // woken when a worker returned or the stop cell changed; read by whoever leads the stop
  Waker stop_event;     // woken once there is a reason for wait() to return; never cleared

  bool all_returned() const;
  // True on a thread that is inside run_worker.
  bool is_worker_thread() const;
  // Any thread: clients are refused from now on, on every listener of the given worker.
  void disable_listeners(int worker) FLARE_EXCLUDES(shared->rows_mutex);
  // Control thread, when a drain begins: a worker that is busy now would do it too late for those who wait longest.
  void stop_deferring() FLARE_EXCLUDES(shared->rows_mutex);
  // Control thread, after that worker was joined: closes its listeners.
  void release_listeners(int worker) FLARE_EXCLUDES(shared->rows_mutex);
};

// The body of worker id's thread: pins itself, runs, and leaves nothing that only it holds.
// cpu: -1 leaves the affinity alone.
using RunWorkerFunction = std::function<void(WorkerContext&)>;
void run_worker_thread(Shared<WorkerGroup> owned, int id, RunWorkerFunction run, int cpu);

}  // namespace flare::inline FLARE_ABI
