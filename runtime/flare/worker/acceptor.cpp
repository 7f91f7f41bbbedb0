#include "flare/worker/acceptor.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "flare/base/network_error.h"
#include "flare/worker/accept_error.h"
#include "flare/worker/loop_token.h"
#include "flare/worker/worker_exit.h"

namespace flare::inline FLARE_ABI {

Acceptor::Acceptor(LoopState& loop, ConnectionSet& connections)
    : loop_(loop),
      connections_(connections),
      pool_(loop.context.pool()),
      stats_(loop.context.stats()),
      id_(loop.context.id()),
      listeners_(loop.context.listeners()),
      registered_(listeners_.size(), false),
      paces_(listeners_.size()) {
  const auto workers = static_cast<std::size_t>(pool_.size());
  wake_marked_.resize(workers, false);
  take_back_seen_.resize(workers, 0);
  take_back_armed_.resize(workers, false);
  wake_.reserve(workers);
  // One more than the budget: after this nothing in a pass allocates while it holds a descriptor.
  kept_.reserve(static_cast<std::size_t>(loop.context.options().accept_budget) + 1);
  for (const Shared<Listener>& listener : listeners_) has_shared_ = has_shared_ || listener->shared();
}

void Acceptor::open() {
  open_ = true;
  register_listeners();
}

void Acceptor::pass() {
  if (!open_) return;
  Sweep result = sweep();
  if (!paused_ && (result == Sweep::kAtCap || result == Sweep::kNoResources)) {
    // Whoever frees from now on sees this worker paused; what was freed before, the second sweep finds.
    paused_ = true;
    stats_.accept_pauses.add();
    pool_.publish_paused(id_, true);
    if (!FLARE_MUTANT(kPausesWithoutSecondLook)) result = sweep();
    if (result == Sweep::kAtCap || result == Sweep::kNoResources) unregister_listeners();
  }
  settle(result);
  flush_wakes();
  adopt_kept();
}

// After a sweep: pauses on, or resumes; and lets no wait of a shared listener end here.
void Acceptor::settle(Sweep result) {
  switch (result) {
    case Sweep::kAtCap:
      wait_for_place();
      return;
    case Sweep::kNoResources:
      // Once per pause: the next worker may find the same, pauses too and asks the one after it.
      if (has_shared_ && retry_after_ == limits::kAcceptRetryMin) static_cast<void>(pass_on());
      arm_retry();
      return;
    case Sweep::kBudget:
      // A peer may share the rest, if it has time. This worker goes on too: its poller knows of what is left only if
      // its own wake began this pass.
      if (has_shared_ && !FLARE_MUTANT(kBudgetSwallowsWake)) {
        static_cast<void>(pass_on());
        static_cast<void>(pool_.request_accept(id_));
      }
      break;
    case Sweep::kDry:
      break;
  }
  if (!paused_) return;
  if (!resume()) {
    // Two that can't resume would ask each other for ever: so only a try that sets the timer asks on.
    if (retry_timer_.value != 0) return;
    arm_retry();
  }
  // This worker was woken for a place or a descriptor, and has nobody left who needs it.
  ask_paused_peer();
}

Acceptor::Sweep Acceptor::sweep() {
  int budget = loop_.context.options().accept_budget;
  Sweep worst = Sweep::kDry;
  const std::size_t count = listeners_.size();
  if (count > 0) next_listener_ = (next_listener_ + 1) % count;
  for (std::size_t i = 0; i < count; ++i) {
    const Sweep result = accept_from((next_listener_ + i) % count, budget);
    worst = std::max(worst, result);
    if (result != Sweep::kDry) break;
  }
  return worst;
}

Acceptor::Sweep Acceptor::accept_from(std::size_t index, int& budget) {
  AcceptPace& pace = paces_[index];
  int taken = 0;
  while (budget > 0) {
    if (taken == pace.enough() && leaves_rest_to_poller(index)) {
      pace.took_enough(loop_.context.options().accept_budget);
      return Sweep::kDry;
    }
    if (!can_place()) return Sweep::kAtCap;
    --budget;
    switch (accept_one(index)) {
      case Outcome::kPlaced:
        ++taken;
        break;
      case Outcome::kSkipped:
        break;
      case Outcome::kEmpty:
        pace.found_end(taken);
        return Sweep::kDry;
      case Outcome::kGone:
        return Sweep::kDry;
      case Outcome::kNoResources:
        if (FLARE_MUTANT(kNoDescriptorSpins)) break;
        return Sweep::kNoResources;
    }
  }
  return Sweep::kBudget;
}

// Where a peer might take them, or be the one whose wait this pass ended, clients are taken until there are none. So
// they are where the poller does not report them, or not soon, and where the time is short.
bool Acceptor::leaves_rest_to_poller(std::size_t index) const {
  const bool is_alone = !listeners_[index]->shared() && (!pool_.policy().enabled || pool_.size() == 1);
  return is_alone && !paused_ && !loop_.batch_full && !loop_.draining;
}

Acceptor::Outcome Acceptor::accept_one(std::size_t index) {
  const Listener& listener = *listeners_[index];
  if (listener.is_disabled()) {
    unregister_listener(index);
    return Outcome::kGone;
  }
  const int cap = loop_.context.options().max_connections;
  if (cap > 0 && own_load() >= cap) return accept_for_peer(index);
  const Result<int> accepted = listener.accept();
  if (!accepted.ok()) return classify(accepted.error(), index);
  stats_.accepted.add();
  place(UniqueFd(accepted.value()), index);
  return Outcome::kPlaced;
}

Acceptor::Outcome Acceptor::classify(int error, std::size_t index) {
  switch (accept_error(error)) {
    case AcceptError::kEmpty:
      return Outcome::kEmpty;
    case AcceptError::kNoResources:
      stats_.accept_errors.add();
      return Outcome::kNoResources;
    case AcceptError::kOneConnection:
      stats_.accept_errors.add();
      return Outcome::kSkipped;
    case AcceptError::kListener:
      break;
  }
  // EINVAL is what a disabled listener says; the flag may follow a moment later, the stop cell never does.
  if (error == EINVAL && (listeners_[index]->is_disabled() || !loop_.context.stop_cell().is_running())) {
    unregister_listener(index);
    return Outcome::kGone;
  }
  throw NetworkError(error, "accept", "listener " + listeners_[index]->address().to_string());
}

// Placed: pushed to a peer, or kept. From a successful push on, the descriptor is the peer's.
void Acceptor::place(UniqueFd fd, std::size_t index) {
  const int target = choose_target();
  if (target >= 0) {
    if (FLARE_MUTANT(kWokenBeforePush)) {
      remember_wake(target);
      flush_wakes();
    }
    const HandoffToken token{fd.get(), id_, static_cast<int>(index)};
    const std::uint64_t drains_before = pool_.drain_count(target);
    if (pool_.try_handoff(target, token.pack())) {
      if (FLARE_MUTANT(kPushedAndKept)) kept_.push_back({UniqueFd(fd.get()), id_, false});
      static_cast<void>(fd.release());
      stats_.handed_out.add();
      if (!FLARE_MUTANT(kWokenBeforePush)) remember_wake(target);
      arm_take_back(target, drains_before);
      return;
    }
    stats_.refused.add();
    if (FLARE_MUTANT(kRefusalCloses)) return;
    if (FLARE_MUTANT(kRefusalClosesAndKeeps)) close_fd(fd.get());
  }
  kept_.push_back({std::move(fd), id_, has_spoken(index)});
  connections_.set_in_hand(kept_.size());
  pool_.publish_load(id_, static_cast<std::int64_t>(connections_.live() + kept_.size()));
}

std::int64_t Acceptor::own_load() const {
  return static_cast<std::int64_t>(connections_.live() + kept_.size()) +
         static_cast<std::int64_t>(pool_.queue(id_).size());
}

bool Acceptor::can_place() const {
  const int cap = loop_.context.options().max_connections;
  if (cap <= 0) return true;
  return own_load() < cap || pool_.peek_idle_worker(id_) >= 0;
}

// False: still paused, for want of what a registration takes.
bool Acceptor::resume() {
  if (!FLARE_MUTANT(kResumesDeaf) && !try_register_listeners()) return false;
  paused_ = false;
  retry_after_ = limits::kAcceptRetryMin;
  if (retry_timer_.value != 0) loop_.wheel.cancel(std::exchange(retry_timer_, TimerId{}));
  pool_.publish_paused(id_, false);
  return true;
}

void Acceptor::arm_retry() {
  if (retry_timer_.value != 0 || FLARE_MUTANT(kRetryNotArmed)) return;
  retry_timer_ = loop_.wheel.schedule_at(ceil_ms(loop_.now + retry_after_), loop_token(LoopTokenKind::kAcceptRetry));
  retry_after_ = std::min<Duration>(retry_after_ * 2, limits::kAcceptRetryMax);
}

void Acceptor::on_retry_timer() {
  retry_timer_ = TimerId{};
  if (paused_) pass();
}

// An exclusive wake that ended here is known to no other poller: somebody must be told to accept by itself. True: one
// that sleeps was, and takes it at once. One that is awake may be in a handler, and what it was asked waits with it.
bool Acceptor::pass_on() {
  const int target = pool_.choose_acceptor(id_);
  if (target < 0 || !pool_.request_accept(target)) return false;
  stats_.passed_on.add();
  remember_wake(target);
  return pool_.is_sleeping(target);
}

// Whoever closes a connection or empties its queue from now on asks this worker again. A peer that has a place and is
// only inside a handler does neither: look again.
void Acceptor::wait_for_place() {
  if (has_shared_ && !FLARE_MUTANT(kPauseSwallowsWake) && pass_on()) return;
  if ((has_shared_ || pool_.policy().enabled) && pool_.is_any_peer_below_cap(id_)) arm_retry();
}

void Acceptor::after_closes() {
  pool_.publish_load(id_, static_cast<std::int64_t>(connections_.live()));
  if (open_ && paused_ && can_place()) pass();
  if (pool_.paused_count() == 0 || FLARE_MUTANT(kFreedTellsNobody)) return;
  ask_paused_peer();
  // A shared queue may hold what the paused ones could not take.
  if (open_ && has_shared_ && !paused_) pass();
  flush_wakes();
}

// Something is free that a paused peer may wait for. One is asked to try again; when it needs it no more it asks the
// next one.
void Acceptor::ask_paused_peer() {
  for (int tries = pool_.paused_count(); tries > 0; --tries) {
    const int peer = pool_.paused_peer(id_);
    if (peer < 0) return;
    if (!pool_.request_accept(peer)) continue;
    remember_wake(peer);
    return;
  }
}

void Acceptor::remember_wake(int target) {
  const auto index = static_cast<std::size_t>(target);
  if (wake_marked_[index]) return;
  wake_marked_[index] = true;
  wake_.push_back(target);
}

void Acceptor::flush_wakes() noexcept {
  for (const int target : wake_) {
    wake_marked_[static_cast<std::size_t>(target)] = false;
    if (pool_.needs_wake(target)) {
      loop_.context.shared()->wakers[static_cast<std::size_t>(target)]->wake();
      stats_.wakes_sent.add();
    } else {
      stats_.wakes_skipped.add();
    }
  }
  wake_.clear();
}

}  // namespace flare::inline FLARE_ABI
