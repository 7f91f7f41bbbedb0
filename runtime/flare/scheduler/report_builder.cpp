#include "flare/scheduler/report_builder.h"

#include "flare/base/unique_fd.h"
#include "flare/kernel/system_kernel.h"
#include "flare/worker/loop_token.h"

namespace flare::inline FLARE_ABI {

bool adds_up(const std::vector<ShutdownReport>& reports) {
  std::int64_t handed_out = 0;
  std::int64_t received = 0;
  for (const ShutdownReport& report : reports) {
    if (!report.identity()) return false;
    handed_out += report.handed_out;
    received += report.received;
  }
  return handed_out == received;
}

namespace detail {

namespace {

constexpr int kReadings = 1000;

ShutdownReport from_snapshot(const WorkerSnapshot& from, int worker, int swept) {
  ShutdownReport to;
  to.worker = worker;
  to.accepted = static_cast<std::int64_t>(from.accepted);
  to.received = static_cast<std::int64_t>(from.received) + swept;
  to.handed_out = static_cast<std::int64_t>(from.handed_out);
  to.refused = static_cast<std::int64_t>(from.refused);
  to.finished = static_cast<std::int64_t>(from.finished);
  to.cut = static_cast<std::int64_t>(from.cut) + swept;
  to.left = static_cast<std::int64_t>(from.live);
  to.requests = static_cast<std::int64_t>(from.requests);
  for (std::size_t i = 0; i < kCloseReasons; ++i) to.by_reason[i] = static_cast<std::int64_t>(from.by_reason[i]);
  to.drained = static_cast<std::int64_t>(from.drained);
  to.timed_out = static_cast<std::int64_t>(from.timed_out) + swept;
  to.in_flight_at_deadline = to.timed_out + to.left;
  to.crashed = from.crashed ? 1 : 0;
  to.error = from.error;
  return to;
}

// The counters that a report is made of; the rest of a snapshot may move freely.
bool same_counts(const WorkerSnapshot& a, const WorkerSnapshot& b) {
  return a.accepted == b.accepted && a.received == b.received && a.handed_out == b.handed_out &&
         a.finished == b.finished && a.cut == b.cut && a.live == b.live && a.ticks == b.ticks;
}

}  // namespace

int sweep_queue(WorkerShared& shared, int worker) {
  int swept = 0;
  for (const std::int64_t token : shared.pool.close_and_drain(worker)) {
    const UniqueFd fd(HandoffToken::unpack(token).fd);
    ++swept;
  }
  return swept;
}

ShutdownReport report_joined(const WorkerShared& shared, int worker, int swept) {
  return from_snapshot(shared.snapshot(worker, SystemKernel::now()), worker, swept);
}

ShutdownReport report_stuck(const WorkerShared& shared, int worker, int swept) {
  // A stuck worker stands still inside a handler. Should it come back just now, two readings differ.
  WorkerSnapshot snapshot = shared.snapshot(worker, SystemKernel::now());
  for (int i = 0; i < kReadings; ++i) {
    WorkerSnapshot again = shared.snapshot(worker, SystemKernel::now());
    const bool stands = same_counts(snapshot, again);
    snapshot = std::move(again);
    if (stands) break;
  }
  ShutdownReport report = from_snapshot(snapshot, worker, swept);
  report.stuck = 1;
  return report;
}

}  // namespace detail

}  // namespace flare::inline FLARE_ABI
