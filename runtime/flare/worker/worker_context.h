// worker_context.h: what a frontend gets for one worker.                              Public header.
// Threads:    the worker, but where a member says otherwise.
// Owns:       shares what its worker can still touch after it was detached.
// Bounds:     none.
// Errors:     none.
// Ordering:   none.
// Invariants: INV-11, INV-16: the cells live as long as any worker that can reach them.
// Not here:   the loop (serving_loop.h), threads (scheduler/).
// Source:     seeds, flare.runtime.scheduler (Frontend::run_worker).
#pragma once

#include <string_view>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/sync.h"
#include "flare/base/time.h"
#include "flare/handoff/worker_handoff_pool.h"
#include "flare/net/listener.h"
#include "flare/reactor/waker.h"
#include "flare/worker/error_reporter.h"
#include "flare/worker/serving_options.h"
#include "flare/worker/stop_cell.h"
#include "flare/worker/worker_stats.h"

namespace flare::inline FLARE_ABI {

class Protocol;

// All that the workers of one scheduler share; whoever can touch it holds it.
struct WorkerShared {
  WorkerShared(const HandoffPolicy& policy, int workers, const ServingOptions& serving)
      : pool(policy, workers, serving.max_connections), options(serving), reporter(serving.error_sink) {}

  StopCell stop;
  WorkerHandoffPool pool;
  const ServingOptions options;
  ErrorReporter reporter;
  std::vector<Shared<Waker>> wakers;       // one per worker, fixed before the first thread starts
  std::vector<Shared<WorkerStats>> stats;  // one per worker, fixed before the first thread starts
  // [worker][address]; a shared listener stands in each row. Row N is read by worker N, and by the control thread,
  // which clears it when that worker was joined.
  std::vector<std::vector<Shared<Listener>>> listeners;
  bool defers = false;  // listeners keep silent clients back; fixed before the first thread starts
  // Guards the rows against the control thread's clearing them, for whoever reads another worker's row.
  mutable Mutex rows_mutex;

  // Any thread.
  void report(std::string_view line) noexcept { reporter.report(line); }
  // Any thread and a signal handler: a wake that nothing skips.
  void wake_all() const noexcept {
    if (FLARE_MUTANT(kStopWakesNobody)) return;
    for (const Shared<Waker>& waker : wakers) waker->wake();
  }
  // Any thread: clients that wait at the worker's own listeners and that it could not accept yet. A peer that had no
  // CPU since they came looks idle by its load alone.
  std::int64_t waiting_clients(int worker) const FLARE_EXCLUDES(rows_mutex);
  // Any thread: the worker's counters now. They are read one by one; after the join they are exact.
  WorkerSnapshot snapshot(int worker, MonoTime now) const;
  // The same into to; allocates nothing when to.error has room for limits::kErrorTextBytes.
  void snapshot(int worker, MonoTime now, WorkerSnapshot& to) const;
};

class WorkerContext {
 public:
  WorkerContext(Shared<WorkerShared> shared, int id) : shared_(std::move(shared)), id_(id) {}

  int id() const { return id_; }
  int worker_count() const { return shared_->pool.size(); }
  const std::vector<Shared<Listener>>& listeners() const { return shared_->listeners[static_cast<std::size_t>(id_)]; }
  StopCell& stop_cell() const { return shared_->stop; }
  WorkerHandoffPool& pool() const { return shared_->pool; }
  HandoffQueue& queue() const { return shared_->pool.queue(id_); }
  const Shared<Waker>& waker() const { return shared_->wakers[static_cast<std::size_t>(id_)]; }
  WorkerStats& stats() const { return *shared_->stats[static_cast<std::size_t>(id_)]; }
  const ServingOptions& options() const { return shared_->options; }
  const Shared<WorkerShared>& shared() const { return shared_; }

  // Runs the serving loop on protocol until this worker has stopped: accept, hand off, adopt, serve, drain.
  // Throws what ended the loop (NetworkError of a poll); by then everything the worker held was passed on or
  // closed.
  void serve(Protocol& protocol);

 private:
  Shared<WorkerShared> shared_;
  int id_;
};

}  // namespace flare::inline FLARE_ABI
