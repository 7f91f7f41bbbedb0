#include "flare/scheduler/report_builder.h"

#include <cstdint>
#include <tuple>
#include <utility>

#include "flare/base/limits.h"
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

// Field by field: to keeps the memory of its text.
void from_snapshot(const WorkerSnapshot& from, int worker, int swept, ShutdownReport& to) {
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
  to.in_flight_at_deadline = to.timed_out + (FLARE_MUTANT(kLeftNotInFlight) ? 0 : to.left);
  to.crashed = from.crashed ? 1 : 0;
  to.error.assign(from.error);
}

// The counters that a report is made of; the rest of a snapshot may move freely.
auto counts_of(const WorkerSnapshot& one) {
  return std::tie(one.accepted, one.received, one.handed_out, one.finished, one.cut, one.live, one.ticks);
}

}  // namespace

StopRecord::StopRecord(int workers)
    : swept(static_cast<std::size_t>(workers)),
      reports(static_cast<std::size_t>(workers)),
      last(static_cast<std::size_t>(workers)) {
  for (ShutdownReport& report : reports) report.error.reserve(limits::kErrorTextBytes);
  for (WorkerSnapshot& snapshot : last) snapshot.error.reserve(limits::kErrorTextBytes);
  again.error.reserve(limits::kErrorTextBytes);
}

void sweep_queue(WorkerShared& shared, int worker, StopRecord& record) noexcept {
  int& swept = record.swept[static_cast<std::size_t>(worker)];
  shared.pool.queue(worker).close_and_pop([&swept](std::int64_t token) {
    const UniqueFd fd(HandoffToken::unpack(token).fd);
    ++swept;
  });
}

void report_joined(const WorkerShared& shared, int worker, StopRecord& record) {
  const auto index = static_cast<std::size_t>(worker);
  shared.snapshot(worker, SystemKernel::now(), record.last[index]);
  from_snapshot(record.last[index], worker, record.swept[index], record.reports[index]);
}

void report_stuck(const WorkerShared& shared, int worker, StopRecord& record) {
  const auto index = static_cast<std::size_t>(worker);
  // A stuck worker stands still inside a handler. Should it come back just now, two readings differ.
  WorkerSnapshot& snapshot = record.last[index];
  shared.snapshot(worker, SystemKernel::now(), snapshot);
  for (int i = 0; i < kReadings; ++i) {
    shared.snapshot(worker, SystemKernel::now(), record.again);
    const bool stands = counts_of(snapshot) == counts_of(record.again);
    std::swap(snapshot, record.again);
    if (stands) break;
  }
  from_snapshot(snapshot, worker, record.swept[index], record.reports[index]);
  record.reports[index].stuck = 1;
}

}  // namespace detail

}  // namespace flare::inline FLARE_ABI
