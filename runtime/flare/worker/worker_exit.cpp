#include "flare/worker/worker_exit.h"

#include <cstdint>

#include "flare/base/limits.h"
#include "flare/worker/accept_error.h"
#include "flare/worker/loop_token.h"

namespace flare::inline FLARE_ABI {

namespace {

void wake(WorkerContext& context, int target) {
  if (!context.pool().needs_wake(target)) return;
  context.shared()->wakers[static_cast<std::size_t>(target)]->wake();
  context.stats().wakes_sent.add();
}

void accept_dry(WorkerContext& context, const Listener& listener) {
  for (int i = 0; i < limits::kAcceptDryMax && !listener.is_disabled(); ++i) {
    const Result<int> accepted = listener.accept();
    if (!accepted.ok()) {
      if (accept_error(accepted.error()) == AcceptError::kOneConnection) continue;
      return;
    }
    context.stats().accepted.add();
    give_away(context, UniqueFd(accepted.value()), context.id());
  }
}

// Whoever can take it must learn of a client whose exclusive wake ended here. This worker can't look again, so all are
// asked: one that is at its cap or inside a handler now remembers it.
void ask_every_peer(WorkerContext& context) {
  for (int peer = 0; peer < context.worker_count(); ++peer) {
    if (peer != context.id() && context.pool().request_accept(peer)) wake(context, peer);
  }
}

}  // namespace

void give_away(WorkerContext& context, UniqueFd fd, int accepted_by) noexcept {
  WorkerHandoffPool& pool = context.pool();
  const HandoffToken token{fd.get(), accepted_by, 0};
  // The chosen one may fill up or close in between; each refusal leaves one peer less to try.
  for (int tries = pool.size(); tries > 0; --tries) {
    const int target = pool.choose_orphan_target(context.id());
    if (target < 0) break;
    if (!pool.push_orphan(target, token.pack())) continue;
    static_cast<void>(fd.release());
    context.stats().handed_out.add();
    if (!FLARE_MUTANT(kOrphanNotWoken)) wake(context, target);
    return;
  }
  context.stats().cut.add();
}

void evacuate(WorkerContext& context) noexcept {
  // One by one: a list of them would take memory, and this must end also where there is none.
  context.queue().close_and_pop([&context](std::int64_t packed) {
    const HandoffToken token = HandoffToken::unpack(packed);
    context.stats().received.add();
    give_away(context, UniqueFd(token.fd), token.accepted_by);
  });
  for (const Shared<Listener>& listener : context.listeners()) {
    if (listener->shared()) {
      if (!listener->is_disabled() && !FLARE_MUTANT(kCrashSwallowsWake)) ask_every_peer(context);
    } else {
      accept_dry(context, *listener);
      static_cast<void>(listener->disable());
    }
  }
}

}  // namespace flare::inline FLARE_ABI
