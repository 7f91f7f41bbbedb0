// The serving loop's end: draining, cut, crash.
#include <algorithm>

#include "flare/worker/serving_loop.h"
#include "flare/worker/worker_exit.h"

namespace flare::inline FLARE_ABI {

void ServingLoop::enter_draining() {
  loop_.draining = true;
  loop_.drain_started = loop_.now;
  acceptor_.stop_deferring();
  connections_.start_draining();
}

// A silent client that the system kept back comes up about a second after it came. A drain that is hardly longer has to
// leave time for whom it accepts last: this phase may take one more grace, then come the client's own and its linger.
MonoTime ServingLoop::accept_grace_over(const StopCell::View& stop) const {
  const MonoTime over = saturating_add(loop_.drain_started, loop_.grace);
  if (!loop_.context.shared()->defers) return over;
  const MonoTime in_time = stop.deadline == kNever ? kNever : stop.deadline - 4 * loop_.grace;
  return std::max(over, std::min(saturating_add(loop_.drain_started, limits::kDeferredGrace), in_time));
}

bool ServingLoop::drain_tick(const StopCell::View& stop) {
  if (!loop_.draining) enter_draining();
  // A stop without a deadline gets one later; the grace shrinks with it and never grows.
  if (stop.deadline != kNever) {
    loop_.grace = std::min(loop_.grace, std::max<Duration>(stop.deadline - loop_.drain_started, Duration{0}) / 4);
  }
  next_grace_ = connections_.check_grace();
  if (acceptor_.is_open()) {
    const MonoTime grace_over = accept_grace_over(stop);
    const MonoTime twice = saturating_add(grace_over, loop_.grace);
    if (loop_.now >= twice || (loop_.now >= grace_over && !connections_.any_unanswered())) {
      acceptor_.close_phase();
      next_grace_ = std::min(next_grace_, connections_.check_grace());
    } else {
      next_grace_ = std::min(next_grace_, loop_.now < grace_over ? grace_over : twice);
    }
  }
  if (acceptor_.is_open() || connections_.live() > 0) return false;
  // Should a target be stuck, nobody but this worker can serve what it handed over, and its timer takes that back.
  done_ = !acceptor_.awaits_targets();
  next_grace_ = std::min(next_grace_, saturating_add(loop_.now, limits::kTargetPoll));
  return done_;
}

void ServingLoop::cut() {
  loop_.draining = false;  // what is closed from now on was not drained
  acceptor_.cut();
  connections_.cut_all(/*by_deadline=*/true);
  done_ = true;
}

void ServingLoop::crash() noexcept {
  WorkerContext& context = loop_.context;
  // First, so that no peer chooses this worker any more.
  context.pool().mark_crashed(context.id());
  acceptor_.abandon();
  evacuate(context);
  connections_.cut_all(/*by_deadline=*/false);
}

}  // namespace flare::inline FLARE_ABI
