// report_builder.h: from a worker's counters to its ShutdownReport.                   Internal.
// Threads:    the control thread that leads a stop.
// Owns:       nothing; sweep_queue closes what it finds.
// Bounds:     none.
// Errors:     none.
// Ordering:   report_joined: after the join. report_stuck: reads until two readings agree.
// Invariants: INV-07, INV-22; per worker accepted + received = finished + handed_out + cut + left.
// Not here:   deciding who is stuck (scheduler_core.h).
// Source:     decisions 22 and 23.
#pragma once

#include "flare/base/abi.h"
#include "flare/scheduler/shutdown_report.h"
#include "flare/worker/worker_context.h"

namespace flare::inline FLARE_ABI::detail {

// Closes the worker's queue and every descriptor in it; how many there were. They count as received and cut by it.
int sweep_queue(WorkerShared& shared, int worker);
ShutdownReport report_joined(const WorkerShared& shared, int worker, int swept);
// What it still holds is `left`.
ShutdownReport report_stuck(const WorkerShared& shared, int worker, int swept);

}  // namespace flare::inline FLARE_ABI::detail
