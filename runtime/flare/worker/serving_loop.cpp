#include "flare/worker/serving_loop.h"

#include <algorithm>
#include <climits>
#include <limits>

#include "flare/worker/loop_token.h"
#include "flare/worker/worker_exit.h"

namespace flare::inline FLARE_ABI {

ServingLoop::ServingLoop(WorkerContext& context, Protocol& protocol)
    : loop_(context), connections_(loop_, protocol), acceptor_(loop_, connections_) {
  events_.reserve(static_cast<std::size_t>(context.options().max_events));
}

void ServingLoop::run() {
  role_.enter();
  try {
    loop_.context.pool().publish_heartbeat(loop_.context.id(), loop_.now);
    loop_.reactor.prepare_to_forget();
    // A worker that is late to start must not touch a listener that was already given up.
    if (loop_.context.stop_cell().read(loop_.now).phase != StopPhase::kCut) acceptor_.open();
    while (!done_) tick();
  } catch (...) {
    crash();
    role_.leave();
    throw;
  }
  role_.leave();
}

void ServingLoop::tick() {
  WorkerContext& context = loop_.context;
  WorkerHandoffPool& pool = context.pool();
  context.stats().ticks.add();
  loop_.now = SystemKernel::now();  // handlers of the tick before may have taken long
  const StopCell::View stop = context.stop_cell().read(loop_.now);
  if (stop.phase == StopPhase::kCut) {
    cut();
    return;
  }
  acceptor_.adopt_queue();
  if (stop.phase == StopPhase::kDraining && drain_tick(stop)) return;
  const std::uint64_t unreleased = FLARE_MUTANT(kLoadStaysWithDonor) ? context.stats().handed_out.get() : 0;
  pool.publish_load(context.id(), static_cast<std::int64_t>(connections_.live() + unreleased));
  const int ready = sleep_and_poll(stop);
  for (int i = 0; i < ready; ++i) {
    const std::uint64_t token = events_[static_cast<std::size_t>(i)].token();
    accept_now_ = accept_now_ || (!is_connection_token(token) && token != WAKEUP_TOKEN);
  }
  if (pool.take_accept_request(context.id())) accept_now_ = true;
  if (FLARE_MUTANT(kHandlersBeforeAccept)) dispatch_events();
  // Before any handler: an exclusive wake must not wait for one.
  if (std::exchange(accept_now_, false)) acceptor_.pass();
  dispatch_timers();
  dispatch_events();
  connections_.run_turns();
  if (connections_.take_closed()) acceptor_.after_closes();
}

int ServingLoop::sleep_and_poll(const StopCell::View& stop) {
  WorkerContext& context = loop_.context;
  int timeout = poll_timeout(stop);
  bool sleeping = false;
  if (timeout != 0) {
    // begin_sleep looks at the queue and the try-accept cell under the queue's lock after it said "sleeping": what is
    // put there later finds the sleeper and wakes it. A stop always wakes, so one look after that is enough.
    sleeping = context.pool().begin_sleep(context.id());
    const StopCell::View again = context.stop_cell().read(loop_.now);
    if (!sleeping || again.phase != stop.phase || again.deadline != stop.deadline) timeout = 0;
  }
  if (FLARE_MUTANT(kWakeClearedAfterLook)) context.waker()->clear();
  int ready = 0;
  try {
    ready = loop_.reactor.poll(timeout, events_, context.options().max_events);
  } catch (...) {
    if (sleeping) context.pool().end_sleep(context.id());
    throw;
  }
  loop_.batch_full = ready == context.options().max_events;
  loop_.now = SystemKernel::now();
  context.pool().publish_heartbeat(context.id(), loop_.now);  // first, or it looks stuck for a moment
  // Before the queue is drained: what is pushed from now on is either seen by that drain or wakes again.
  if (sleeping) context.pool().end_sleep(context.id());
  return ready;
}

int ServingLoop::poll_timeout(const StopCell::View& stop) const {
  // A close that after_closes has not seen yet may be what a paused peer waits for.
  if (connections_.has_turns() || connections_.has_closed()) return 0;
  const std::chrono::milliseconds cap = loop_.context.options().poll_cap;
  constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t timeout = cap.count() < 0 ? kForEver : static_cast<std::uint64_t>(cap.count());
  const std::uint64_t now_ms = floor_ms(loop_.now);
  const auto until = [&](std::uint64_t deadline_ms) {
    timeout = std::min(timeout, std::max(deadline_ms, now_ms) - now_ms);
  };
  if (const std::optional<std::uint64_t> next = loop_.wheel.next_deadline_ms()) until(*next);
  if (stop.phase == StopPhase::kDraining && stop.deadline != kNever) until(ceil_ms(stop.deadline));
  if (next_grace_ != kNever) until(ceil_ms(next_grace_));
  // What is farther away than one wait can say is waited for in pieces.
  return timeout == kForEver ? -1 : static_cast<int>(std::min<std::uint64_t>(timeout, INT_MAX));
}

void ServingLoop::dispatch_timers() {
  loop_.wheel.advance(floor_ms(loop_.now), [this](std::uint64_t token) {
    if (is_connection_token(token)) {
      connections_.on_timer(token);
      return;
    }
    switch (loop_token_kind(token)) {
      case LoopTokenKind::kAcceptRetry:
        acceptor_.on_retry_timer();
        return;
      case LoopTokenKind::kTakeBack:
        acceptor_.on_take_back_timer(static_cast<int>(loop_token_argument(token)));
        return;
      case LoopTokenKind::kListener:
        return;
    }
  });
}

void ServingLoop::dispatch_events() {
  for (const Event& event : events_) {
    if (is_connection_token(event.token())) connections_.on_event(event);
  }
}

}  // namespace flare::inline FLARE_ABI
