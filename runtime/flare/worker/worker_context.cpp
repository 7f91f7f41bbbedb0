#include "flare/worker/worker_context.h"

#include "flare/worker/serving_loop.h"

namespace flare::inline FLARE_ABI {

WorkerSnapshot WorkerShared::snapshot(int worker, MonoTime now) const {
  WorkerSnapshot to;
  snapshot(worker, now, to);
  return to;
}

void WorkerShared::snapshot(int worker, MonoTime now, WorkerSnapshot& to) const {
  const WorkerStats& from = *stats[static_cast<std::size_t>(worker)];
  to.accepted = from.accepted.get();
  to.received = from.received.get();
  to.handed_out = from.handed_out.get();
  to.refused = from.refused.get();
  to.finished = 0;
  for (std::size_t i = 0; i < kCloseReasons; ++i) {
    to.by_reason[i] = from.finished[i].get();
    to.finished += to.by_reason[i];
  }
  to.cut = from.cut.get();
  to.timed_out = from.timed_out.get();
  to.drained = from.drained.get();
  const LiveCounts::Values live = from.live.get();
  to.live = live.connections;
  to.timers = live.timers;
  to.requests = from.requests.get();
  to.handler_errors = from.handler_errors.get();
  to.ticks = from.ticks.get();
  to.wakes_sent = from.wakes_sent.get();
  to.wakes_skipped = from.wakes_skipped.get();
  to.stale_events = from.stale_events.get();
  to.accept_errors = from.accept_errors.get();
  to.accept_pauses = from.accept_pauses.get();
  to.passed_on = from.passed_on.get();
  to.taken_back = from.taken_back.get();
  to.queued = pool.queue_depth(worker);
  const MonoTime beat = pool.heartbeat(worker);
  to.heartbeat_age_ms =
      beat == MonoTime{} ? 0 : std::chrono::duration_cast<std::chrono::milliseconds>(now - beat).count();
  to.sleeping = pool.is_sleeping(worker);
  to.crashed = from.crashed();
  to.error.clear();
  if (to.crashed) from.copy_error(to.error);
}

std::int64_t WorkerShared::waiting_clients(int worker) const {
  const MutexLock lock(rows_mutex);
  std::int64_t waiting = 0;
  for (const Shared<Listener>& listener : listeners[static_cast<std::size_t>(worker)]) {
    if (!listener->shared()) waiting += listener->waiting_clients();
  }
  return waiting;
}

void WorkerContext::serve(Protocol& protocol) {
  ServingLoop(*this, protocol).run();
}

}  // namespace flare::inline FLARE_ABI
