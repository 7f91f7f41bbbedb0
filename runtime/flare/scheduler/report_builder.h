// report_builder.h: from a worker's counters to its ShutdownReport.                   Internal.
// Threads:    the control thread that leads a stop.
// Owns:       a StopRecord its vectors; sweep_queue closes what it finds.
// Bounds:     one entry per worker.
// Errors:     the constructor may throw std::bad_alloc; after it nothing here allocates, so a stop needs no memory.
// Ordering:   report_joined: after the join. report_stuck: reads until two readings agree.
// Invariants: INV-07, INV-22; per worker accepted + received = finished + handed_out + cut + left.
// Not here:   deciding who is stuck (scheduler_core.h).
// Source:     decisions 22 and 23.
#pragma once

#include <vector>

#include "flare/base/abi.h"
#include "flare/scheduler/shutdown_report.h"
#include "flare/worker/worker_context.h"

namespace flare::inline FLARE_ABI::detail {

// All that a stop writes down, made when the scheduler is.
struct StopRecord {
  explicit StopRecord(int workers);

  std::vector<int> swept;  // by worker: what its queue held
  std::vector<ShutdownReport> reports;
  std::vector<WorkerSnapshot> last;
  WorkerSnapshot again;  // a second reading
};

// Closes the worker's queue and every descriptor in it, and counts them. They are received and cut by it.
void sweep_queue(WorkerShared& shared, int worker, StopRecord& record) noexcept;
void report_joined(const WorkerShared& shared, int worker, StopRecord& record);
// What it still holds is `left`.
void report_stuck(const WorkerShared& shared, int worker, StopRecord& record);

}  // namespace flare::inline FLARE_ABI::detail
