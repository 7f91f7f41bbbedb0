// The acceptor's other half: adopting, the worker's own queue, its listeners' registrations, and leaving.
#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "flare/base/network_error.h"
#include "flare/worker/acceptor.h"
#include "flare/worker/loop_token.h"
#include "flare/worker/worker_exit.h"

namespace flare::inline FLARE_ABI {

namespace {

// A read that comes too early costs half of the registration that one in time saves.
constexpr int kSaved = 2;
constexpr int kWasted = 1;
constexpr int kSurest = 32;           // so that a change of habits is noticed after so many connections
constexpr unsigned kTriedEvery = 16;  // where it did not pay

}  // namespace

// Whom the next connection goes to; -1: it stays here.
int Acceptor::choose_target() const {
  const std::int64_t load = own_load();
  const int target = pool_.choose_handoff_target(id_, load);
  if (target >= 0) {
    // A peer that has had no CPU since a burst began looks idle though its own clients wait in the kernel. Handing it
    // more would only come back: one call here is cheaper than the push and the wake that it saves.
    const std::int64_t peer_load = pool_.load(target) + loop_.context.shared()->waiting_clients(target);
    if (load - peer_load >= std::max(pool_.policy().steal_threshold, 1)) return target;
  }
  const int cap = loop_.context.options().max_connections;
  return cap > 0 && load >= cap ? pool_.peek_idle_worker(id_) : -1;
}

void Acceptor::adopt_queue() {
  pool_.drain_local(id_, tokens_);
  if (tokens_.empty()) return;
  adopt_tokens(tokens_);
  // A peer at its cap may have paused because this queue was full, or because it saw a token in both places on its way.
  if (pool_.paused_count() > 0) connections_.note_freed();
}

void Acceptor::adopt_tokens(const std::vector<std::int64_t>& tokens) {
  stats_.received.add(tokens.size());
  connections_.set_in_hand(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const HandoffToken token = HandoffToken::unpack(tokens[i]);
    connections_.set_in_hand(tokens.size() - i - 1);
    // Never read at once: this comes before the tick's accepts, and handlers come behind them.
    static_cast<void>(connections_.adopt(UniqueFd(token.fd), token.accepted_by, false));
  }
}

// Where each request comes on a new connection, it is often there by the time its connection is adopted, and read at
// once it costs no registration. Where clients are far away, or stay, that is a read for nothing. So it is tried now
// and then, and done as long as connections end by it.
bool Acceptor::expects_request() {
  return !loop_.draining && (at_once_ > 0 || ++adopted_ % kTriedEvery == 0);
}

void Acceptor::learn(bool ended) {
  at_once_ = std::clamp(at_once_ + (ended ? kSaved : -kWasted), 0, kSurest);
}

void Acceptor::adopt_kept() {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    connections_.set_in_hand(kept_.size() - i - 1);
    const bool spoken = kept_[i].has_spoken;
    const bool at_once = spoken || expects_request();
    const bool ended = connections_.adopt(std::move(kept_[i].fd), kept_[i].accepted_by, at_once);
    if (at_once && !spoken) learn(ended);
  }
  kept_.clear();
}

// Without a place of its own the worker accepts only what a peer is sure to take: it is never over its cap by more than
// it was, and one that is over it (an orphan came, or a push met its own accept) leaves no client waiting for a peer.
Acceptor::Outcome Acceptor::accept_for_peer(std::size_t index) {
  const int target = pool_.peek_idle_worker(id_);
  const std::uint64_t drains_before = pool_.drain_count(target);
  std::optional<Result<int>> accepted;
  const bool pushed = pool_.handoff_made(target, [&]() -> std::optional<std::int64_t> {
    accepted = listeners_[index]->accept();
    if (!accepted->ok()) return std::nullopt;
    return HandoffToken{accepted->value(), id_, static_cast<int>(index)}.pack();
  });
  if (!pushed) return accepted ? classify(accepted->error(), index) : Outcome::kSkipped;  // can_place() looks again
  stats_.accepted.add();
  stats_.handed_out.add();
  remember_wake(target);
  arm_take_back(target, drains_before);
  return Outcome::kPlaced;
}

// drains_before: the target's count, read while a token stood in its queue or before it was put there. Whoever takes
// that token moves the count on.
void Acceptor::arm_take_back(int target, std::uint64_t drains_before) {
  const auto index = static_cast<std::size_t>(target);
  if (take_back_armed_[index] || FLARE_MUTANT(kNeverTakesBack)) return;
  take_back_seen_[index] = drains_before;
  loop_.now = SystemKernel::now();  // a handler before may have taken long, and the target is given its time from now
  loop_.wheel.schedule_at(ceil_ms(loop_.now + limits::kTakeBackAfter),
                          loop_token(LoopTokenKind::kTakeBack, static_cast<std::uint32_t>(target)));
  take_back_armed_[index] = true;
}

void Acceptor::on_take_back_timer(int target) {
  take_back_armed_[static_cast<std::size_t>(target)] = false;
  const std::uint64_t drains = pool_.drain_count(target);
  if (pool_.queue(target).size() == 0) return;
  if (drains != take_back_seen_[static_cast<std::size_t>(target)]) {
    arm_take_back(target, drains);  // it moves; what waits there now is younger
    return;
  }
  const std::vector<std::int64_t> tokens = pool_.take_back(target, id_);
  stats_.taken_back.add(tokens.size());
  adopt_tokens(tokens);
}

bool Acceptor::awaits_targets() const {
  for (int target = 0; target < pool_.size(); ++target) {
    if (take_back_armed_[static_cast<std::size_t>(target)] && pool_.queue(target).size() > 0) return true;
  }
  return false;
}

void Acceptor::stop_deferring() noexcept {
  for (const Shared<Listener>& listener : listeners_) {
    if (listener->defers() && !listener->is_disabled()) listener->stop_deferring();
  }
}

void Acceptor::close_phase() {
  if (!open_) return;
  open_ = false;
  if (std::exchange(paused_, false)) pool_.publish_paused(id_, false);
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    accept_dry(i);
    unregister_listener(i);
    static_cast<void>(listeners_[i]->disable());
  }
  const std::vector<std::int64_t> tokens = pool_.close_and_drain(id_);
  if (!FLARE_MUTANT(kLastTokensForgotten)) adopt_tokens(tokens);
  pool_.publish_load(id_, static_cast<std::int64_t>(connections_.live()));
}

// What the kernel already completed is served here: nobody is handed anything any more.
void Acceptor::accept_dry(std::size_t index) {
  const int cap = loop_.context.options().max_connections;
  for (int i = 0; i < limits::kAcceptDryMax; ++i) {
    if (listeners_[index]->is_disabled() || (cap > 0 && own_load() >= cap)) return;
    const Result<int> accepted = listeners_[index]->accept();
    if (!accepted.ok()) {
      if (classify(accepted.error(), index) == Outcome::kSkipped) continue;
      return;
    }
    stats_.accepted.add();
    static_cast<void>(connections_.adopt(UniqueFd(accepted.value()), id_, false));
  }
}

void Acceptor::cut() noexcept {
  if (std::exchange(paused_, false)) pool_.publish_paused(id_, false);
  unregister_listeners();
  for (const Shared<Listener>& listener : listeners_) static_cast<void>(listener->disable());
  pool_.queue(id_).close_and_pop([this](std::int64_t token) {
    const UniqueFd fd(FLARE_MUTANT(kCutTokensDropped) ? -1 : HandoffToken::unpack(token).fd);
    stats_.received.add();
    stats_.cut.add();
    stats_.timed_out.add();
  });
}

void Acceptor::abandon() noexcept {
  if (std::exchange(paused_, false)) pool_.publish_paused(id_, false);
  unregister_listeners();
  for (Kept& kept : kept_) give_away(loop_.context, std::move(kept.fd), kept.accepted_by);
  kept_.clear();
  connections_.set_in_hand(0);
  flush_wakes();
}

void Acceptor::register_listeners() {
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if (registered_[i] || listeners_[i]->is_disabled()) continue;
    const std::uint64_t token = loop_token(LoopTokenKind::kListener, static_cast<std::uint32_t>(i));
    if (listeners_[i]->shared()) {
      loop_.reactor.register_exclusive(listeners_[i]->fd(), token, INTEREST_READ);
    } else {
      loop_.reactor.register_fd(listeners_[i]->fd(), token, INTEREST_READ);
    }
    registered_[i] = true;
  }
}

// False: the system has no memory or no watch for one of them now. What else is wrong with a listener does not pass.
bool Acceptor::try_register_listeners() {
  try {
    register_listeners();
    return true;
  } catch (const NetworkError& error) {
    if (error.code().value() != ENOMEM && error.code().value() != ENOSPC) throw;
  } catch (const std::bad_alloc&) {
    // As ENOMEM.
  }
  stats_.accept_errors.add();
  return false;
}

void Acceptor::unregister_listener(std::size_t index) noexcept {
  if (!registered_[index]) return;
  registered_[index] = false;
  try {
    loop_.reactor.unregister(listeners_[index]->fd());
  } catch (const std::exception& error) {
    loop_.context.shared()->report(error.what());
  }
}

void Acceptor::unregister_listeners() noexcept {
  for (std::size_t i = 0; i < listeners_.size(); ++i) unregister_listener(i);
}

}  // namespace flare::inline FLARE_ABI
