#include "flare/worker/connection_set.h"

#include <algorithm>
#include <exception>

namespace flare::inline FLARE_ABI {

Wire ConnectionSet::wire(const ConnectionSlot& slot) const {
  return {slot.fd.get(),         loop_.now,     loop_.context.id(), slot.accepted_by, loop_.scratch.get(),
          limits::kScratchBytes, loop_.draining};
}

// Every call into the protocol goes through here: what it throws closes this connection and nothing else. So does what
// then fails here: no memory or no registration for what the protocol asked.
template <class Call>
void ConnectionSet::step(ConnectionSlot& slot, Call call) {
  loop_.now = SystemKernel::now();  // the call before may have taken long; a deadline is counted from now
  Step next;
  try {
    next = call(*slot.connection, wire(slot));
  } catch (...) {
    finish(slot, CloseReason::kHandlerThrew);
    return;
  }
  try {
    apply(slot, next);
  } catch (const std::exception&) {
    finish(slot, CloseReason::kSetupFailed);
  }
}

bool ConnectionSet::adopt(UniqueFd fd, int accepted_by, bool at_once) noexcept {
  ConnectionSlot* slot = nullptr;
  try {
    slot = &table_.add(std::move(fd));
    publish_live();  // before the protocol is called: a worker that never comes back from it still holds the socket
    slot->connection = protocol_.open();
  } catch (...) {
    // No memory for it, or the protocol refused: it costs this one connection. Without a slot fd closes it.
    if (slot != nullptr) {
      finish(*slot, CloseReason::kSetupFailed);
    } else {
      loop_.context.stats().finished[static_cast<std::size_t>(CloseReason::kSetupFailed)].add();
    }
    return true;
  }
  slot->accepted_by = accepted_by;
  slot->adopted_at = loop_.now;
  const std::uint64_t handle = slot->handle();
  step(*slot, [at_once](Connection& connection, const Wire& w) {
    const Step opened = connection.on_open(w);
    const bool reads = opened.kind == Step::Kind::kKeep && !opened.again && (opened.interest & INTEREST_READ) != 0;
    return at_once && reads ? connection.on_ready(w, {.readable = true}) : opened;
  });
  ConnectionSlot* still = table_.find(handle);
  if (loop_.draining && still != nullptr) tell_draining(*still);
  return still == nullptr;
}

void ConnectionSet::on_event(const Event& event) {
  ConnectionSlot* slot = loop_.reactor.is_current(event) ? table_.find(event.token()) : nullptr;
  if (slot == nullptr) {
    loop_.context.stats().stale_events.add();
    return;
  }
  if (slot->state == ConnectionSlot::State::kLingering) {
    loop_.now = SystemKernel::now();
    discard(*slot);
    return;
  }
  // A half whose interest was removed since this batch was read is not dispatched.
  const Readiness ready{event.is_readable() && loop_.reactor.is_current(event, INTEREST_READ),
                        event.is_writable() && loop_.reactor.is_current(event, INTEREST_WRITE), event.is_error(),
                        event.is_hup()};
  if (!ready.readable && !ready.writable && !ready.error && !ready.hup) return;
  const std::uint64_t handle = slot->handle();
  step(*slot, [&](Connection& connection, const Wire& w) { return connection.on_ready(w, ready); });
  if (ready.error) {
    // A socket error stays readable for ever: a protocol that did not close on it would spin the loop.
    ConnectionSlot* still = table_.find(handle);
    if (still != nullptr && still->state == ConnectionSlot::State::kServing) finish(*still, CloseReason::kPeerGone);
  }
}

void ConnectionSet::on_timer(std::uint64_t handle) {
  ConnectionSlot* slot = table_.find(handle);
  if (slot == nullptr) return;
  slot->timer = TimerId{};
  if (slot->deadline == kNever) return;
  if (floor_ms(loop_.now) < ceil_ms(slot->deadline)) {
    set_deadline(*slot, slot->deadline);  // it moved later since the timer was set
    return;
  }
  if (slot->state == ConnectionSlot::State::kLingering) {
    finish(*slot, slot->reason);
    return;
  }
  step(*slot, [](Connection& connection, const Wire& w) { return connection.on_deadline(w); });
}

void ConnectionSet::run_turns() {
  turns_now_.swap(turns_);
  for (const std::uint64_t handle : turns_now_) {
    ConnectionSlot* slot = table_.find(handle);
    if (slot == nullptr || !slot->turn_queued) continue;
    slot->turn_queued = false;
    if (slot->state != ConnectionSlot::State::kServing) continue;
    step(*slot, [](Connection& connection, const Wire& w) { return connection.on_turn(w); });
  }
  turns_now_.clear();
}

void ConnectionSet::apply(ConnectionSlot& slot, const Step& next) {
  switch (next.kind) {
    case Step::Kind::kKeep:
      want(slot, next.interest);
      set_deadline(slot, next.deadline);
      if (next.again) queue_turn(slot);
      return;
    case Step::Kind::kClose:
      finish(slot, next.reason);
      return;
    case Step::Kind::kLinger:
      start_linger(slot, next);
      return;
  }
}

void ConnectionSet::want(ConnectionSlot& slot, int interest) {
  if (interest == slot.interest) return;
  Reactor& reactor = loop_.reactor;
  if (slot.interest == 0) {
    reactor.register_fd(slot.fd.get(), slot.handle(), interest);
  } else if (interest == 0) {
    reactor.unregister(slot.fd.get());
  } else {
    reactor.modify(slot.fd.get(), interest);
  }
  slot.interest = interest;
}

// Deadlines move with every request, timers only when they must: an armed timer that fires early is set again.
void ConnectionSet::set_deadline(ConnectionSlot& slot, MonoTime deadline) {
  slot.deadline = deadline;
  if (deadline == kNever) return;
  const std::uint64_t ms = ceil_ms(deadline);
  if (slot.timer.value != 0) {
    if (slot.timer_ms <= ms) return;
    loop_.wheel.cancel(slot.timer);
    slot.timer = TimerId{};
  }
  slot.timer = loop_.wheel.schedule_at(ms, slot.handle());
  slot.timer_ms = ms;
}

void ConnectionSet::queue_turn(ConnectionSlot& slot) {
  if (slot.turn_queued) return;
  turns_.push_back(slot.handle());
  slot.turn_queued = true;
}

void ConnectionSet::start_linger(ConnectionSlot& slot, const Step& last) {
  // A failure means that the peer is gone already; the read below will say so.
  if (!last.ended) static_cast<void>(SystemKernel::shutdown_write(slot.fd.get()));
  slot.connection.reset();
  loop_.now = SystemKernel::now();  // the call before may have taken long, and the peer is given its time from now
  slot.state = ConnectionSlot::State::kLingering;
  slot.reason = last.reason;
  // A connection that asked nothing must not hold a drain: its peer gets one grace to see the end.
  const Duration total =
      last.reason == CloseReason::kIdleDrained ? Duration(limits::kMaxGrace) : Duration(limits::kLingerTotal);
  slot.linger_end = saturating_add(loop_.now, total);
  want(slot, INTEREST_READ);
  discard(slot);
}

void ConnectionSet::discard(ConnectionSlot& slot) {
  const Result<std::size_t> got = SystemKernel::recv(slot.fd.get(), loop_.scratch.get(), limits::kScratchBytes);
  if (got.ok()) {
    slot.discarded += got.value();
    if (got.value() == 0 || slot.discarded > limits::kLingerBytes) {
      finish(slot, slot.reason);
      return;
    }
  } else if (got.error() != EAGAIN && got.error() != EINTR) {
    finish(slot, slot.reason);
    return;
  }
  set_deadline(slot, std::min(slot.linger_end, saturating_add(loop_.now, limits::kLingerQuiet)));
}

void ConnectionSet::finish(ConnectionSlot& slot, CloseReason reason) noexcept {
  WorkerStats& stats = loop_.context.stats();
  stats.finished[static_cast<std::size_t>(reason)].add();
  if (loop_.draining) stats.drained.add();
  release(slot);
}

void ConnectionSet::release(ConnectionSlot& slot) noexcept {
  // The close below takes the watch away: nothing of this thread stands between.
  if (slot.interest != 0) static_cast<void>(loop_.reactor.forget(slot.fd.get()));
  if (FLARE_MUTANT(kClosedTwice)) close_fd(slot.fd.get());
  if (slot.timer.value != 0) loop_.wheel.cancel(slot.timer);
  // Its end may take long, and whoever reads the counters meanwhile must not find it in two of them.
  const std::unique_ptr<Connection> ending = std::move(slot.connection);
  table_.remove(slot);
  closed_ = true;
  publish_live();
}

void ConnectionSet::start_draining() {
  table_.for_each([this](ConnectionSlot& slot) { tell_draining(slot); });
}

void ConnectionSet::tell_draining(ConnectionSlot& slot) {
  if (slot.state != ConnectionSlot::State::kServing) return;
  step(slot, [](Connection& connection, const Wire& w) { return connection.on_drain(w); });
}

MonoTime ConnectionSet::check_grace() {
  MonoTime next = kNever;
  table_.for_each([&](ConnectionSlot& slot) {
    if (slot.state != ConnectionSlot::State::kServing || slot.grace_told) return;
    const MonoTime over = saturating_add(std::max(slot.adopted_at, loop_.drain_started), loop_.grace);
    if (loop_.now < over) {
      next = std::min(next, over);
      return;
    }
    slot.grace_told = true;
    step(slot, [](Connection& connection, const Wire& w) { return connection.on_grace_over(w); });
  });
  return next;
}

bool ConnectionSet::any_unanswered() {
  bool found = false;
  table_.for_each([&](ConnectionSlot& slot) {
    found = found || (slot.state == ConnectionSlot::State::kServing && slot.connection->unanswered());
  });
  return found;
}

void ConnectionSet::cut_all(bool by_deadline) noexcept {
  WorkerStats& stats = loop_.context.stats();
  table_.for_each([&](ConnectionSlot& slot) {
    stats.cut.add();
    if (by_deadline) stats.timed_out.add();
    release(slot);
  });
}

void ConnectionSet::set_in_hand(std::size_t count) {
  in_hand_ = count;
  publish_live();
}

void ConnectionSet::publish_live() noexcept {
  loop_.context.stats().live.set(table_.live() + in_hand_, loop_.wheel.pending());
}

}  // namespace flare::inline FLARE_ABI
