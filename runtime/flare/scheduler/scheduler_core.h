// scheduler_core.h: the part of a Scheduler that is compiled once: threads, stopping, reports.   Internal.
// Threads:    as scheduler.h says for each call.
// Owns:       the threads; shares the group with them.
// Bounds:     a drain ends at its deadline plus limits::kJoinGrace; shutdown waits for the longest handler.
// Errors:     stop throws NetworkError(EDEADLK) on a worker's own thread; else it needs no memory and nothing in it
//             fails: the leader always releases the others.
// Ordering:   the first caller of stop leads it; the others return when it has finished.
// Invariants: INV-11, INV-13, INV-14, INV-15.
// Not here:   binding and starting (scheduler_start.cpp), worker threads (worker_group.h).
// Source:     seeds, flare.runtime.scheduler; decisions 19 to 24.
#pragma once

#include <string>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/sync.h"
#include "flare/net/socket_address.h"
#include "flare/scheduler/report_builder.h"
#include "flare/scheduler/shutdown_report.h"
#include "flare/scheduler/worker_group.h"

namespace flare::inline FLARE_ABI::detail {

class SchedulerCore {
 public:
  SchedulerCore(Shared<WorkerGroup> group, std::vector<SocketAddress> addresses, std::string strategy);
  SchedulerCore(const SchedulerCore&) = delete;
  SchedulerCore& operator=(const SchedulerCore&) = delete;
  ~SchedulerCore();

  // Start only, worker by worker: starts the next one. Throws NetworkError; the destructor stops those before it.
  void start_worker(RunWorkerFunction run, int cpu) FLARE_EXCLUDES(mutex_);

  void request_stop() noexcept;
  void wait() FLARE_EXCLUDES(mutex_);
  // deadline: when draining turns into cut; cut at once when it has passed. may_detach: a worker that is stuck after
  // that is left behind. The leader gets the reports, every other caller an empty list.
  std::vector<ShutdownReport> stop(MonoTime deadline, bool may_detach) FLARE_EXCLUDES(mutex_);

  bool is_running() const FLARE_EXCLUDES(mutex_);
  int crashed_count() const FLARE_EXCLUDES(mutex_);
  int worker_count() const { return worker_count_; }
  std::vector<WorkerSnapshot> stats() const FLARE_EXCLUDES(mutex_);
  const std::vector<SocketAddress>& addresses() const { return addresses_; }
  const std::string& strategy() const { return strategy_; }
  const HandoffPolicy& policy() const { return policy_; }

 private:
  enum class Phase { kServing, kStopping, kStopped };

  Shared<WorkerGroup> group() const FLARE_EXCLUDES(mutex_);
  bool lead_or_wait(MonoTime deadline) FLARE_EXCLUDES(mutex_);
  void await_deadline(WorkerGroup& group);
  void cut_and_await(WorkerGroup& group, bool may_detach);
  void collect(WorkerGroup& group);
  void release_group() FLARE_EXCLUDES(mutex_);

  const std::vector<SocketAddress> addresses_;
  const std::string strategy_;
  const HandoffPolicy policy_;
  const int worker_count_;
  std::vector<Thread> threads_;  // start, then the leader of the stop only
  StopRecord record_;            // the leader of the stop only

  // What request_stop may touch: a signal handler takes no lock. Sequentially consistent with requests_: whoever
  // releases the group stores null first and then sees every request that still holds the pointer.
  Atomic<WorkerGroup*> live_;
  Atomic<int> requests_{0};

  mutable Mutex mutex_;
  CondVar changed_;
  Shared<WorkerGroup> group_ FLARE_GUARDED_BY(mutex_);  // none once stopped
  std::vector<WorkerSnapshot> last_ FLARE_GUARDED_BY(mutex_);
  Phase phase_ FLARE_GUARDED_BY(mutex_) = Phase::kServing;
};

}  // namespace flare::inline FLARE_ABI::detail
