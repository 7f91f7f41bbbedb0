// The scans of WorkerHandoffPool: who is the best peer for a token, for a waiting connection, for a wake.
#include <algorithm>
#include <chrono>

#include "flare/base/limits.h"
#include "flare/handoff/worker_handoff_pool.h"

namespace flare::inline FLARE_ABI {

namespace {

constexpr std::uint64_t kStuckAfterNs = static_cast<std::uint64_t>(Duration(limits::kStuckAfter).count());

}  // namespace

int WorkerHandoffPool::peek_idle_worker(int exclude) const {
  if (!policy_.enabled) return -1;
  const Choice choice = least_loaded_peer(exclude, Wanted{.room = true, .below_cap = true});
  if (choice.worker >= 0) remember(exclude, choice.worker);
  return choice.worker;
}

int WorkerHandoffPool::choose_handoff_target(int local_worker, std::int64_t local_load) const {
  const std::int64_t threshold = std::max(policy_.steal_threshold, 1);  // 1 at least: a tie stays local
  // No load is below 0, so this also keeps the difference from overflowing.
  if (!policy_.enabled || local_load < threshold) return -1;
  const Choice choice = least_loaded_peer(local_worker, Wanted{.room = true, .below_cap = true});
  if (choice.worker < 0) return -1;
  const bool busier = local_load < choice.load && FLARE_MUTANT(kUnsignedDifference);
  if (local_load - choice.load < threshold && !busier) return -1;
  remember(local_worker, choice.worker);
  return choice.worker;
}

int WorkerHandoffPool::choose_orphan_target(int exclude) const {
  const Choice choice = least_loaded_peer(exclude, Wanted{.room = true});
  if (choice.worker >= 0) remember(exclude, choice.worker);
  return choice.worker;
}

int WorkerHandoffPool::choose_acceptor(int exclude) const {
  // One that sleeps takes it at once; one that is awake may be inside a handler, and what it was asked waits with it.
  Choice choice = least_loaded_peer(exclude, Wanted{.below_cap = true, .not_paused = true, .asleep = true});
  if (choice.worker < 0) choice = least_loaded_peer(exclude, Wanted{.below_cap = true, .not_paused = true});
  if (choice.worker >= 0) remember(exclude, choice.worker);
  return choice.worker;
}

bool WorkerHandoffPool::is_any_peer_below_cap(int exclude) const {
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != exclude && below_cap(peer) && !queue_of(peer).is_closed() && !is_crashed(peer)) return true;
  }
  return false;
}

int WorkerHandoffPool::paused_peer(int exclude) const {
  if (!is_worker(exclude)) return -1;
  for (int step = 1; step <= size(); ++step) {
    const int peer = next_in_rotation(exclude, step);
    if (peer == exclude || !cell(peer).paused.load(std::memory_order_seq_cst)) continue;
    if (queue_of(peer).is_closed() || is_crashed(peer)) continue;
    remember(exclude, peer);
    return peer;
  }
  return -1;
}

// The first of the least loaded ones behind the peer that was chosen last: ties take turns.
WorkerHandoffPool::Choice WorkerHandoffPool::least_loaded_peer(int exclude, const Wanted& wanted) const {
  Choice best;
  if (!is_worker(exclude)) return best;
  const std::int64_t reference = reference_heartbeat(exclude);
  for (int step = 1; step <= size(); ++step) {
    const int peer = next_in_rotation(exclude, step);
    if (peer == exclude && !FLARE_MUTANT(kChoosesItself)) continue;
    const std::int64_t peer_load = load(peer);
    if (best.worker >= 0 && peer_load >= best.load) continue;
    if (is_eligible(peer, wanted, peer_load, reference)) best = Choice{peer, peer_load};
  }
  return best;
}

bool WorkerHandoffPool::is_eligible(int worker, const Wanted& wanted, std::int64_t load, std::int64_t reference) const {
  const Cell& peer = cell(worker);
  const HandoffQueue& peer_queue = queue_of(worker);
  if (peer_queue.is_closed() || is_crashed(worker)) return false;
  if (wanted.room && !FLARE_MUTANT(kChoosesFullPeer) && peer_queue.size() >= peer_queue.capacity()) return false;
  if (wanted.below_cap && connection_cap_ != 0 && load >= connection_cap_) return false;
  if (wanted.not_paused && peer.paused.load(std::memory_order_seq_cst)) return false;
  if (wanted.asleep && peer.sleep.load(std::memory_order_relaxed) == SleepState::kAwake) return false;
  return !is_stuck(worker, reference);
}

// What "now" is, as far as the pool can know: the caller's heartbeat, or the newest one of a caller that has none.
std::int64_t WorkerHandoffPool::reference_heartbeat(int caller) const {
  std::int64_t reference = cell(caller).heartbeat.load(std::memory_order_relaxed);
  if (reference != kNoHeartbeat) return reference;
  for (const Cell& other : cells_) reference = std::max(reference, other.heartbeat.load(std::memory_order_relaxed));
  return reference;
}

// Awake, and without a sign of life for too long: it looks idle, but it is inside a handler. A worker that never
// published a heartbeat has not begun its loop.
bool WorkerHandoffPool::is_stuck(int worker, std::int64_t reference) const {
  const Cell& peer = cell(worker);
  // Acquire, partner: end_sleep. Who sees the worker awake sees the heartbeat that it published before.
  if (peer.sleep.load(std::memory_order_acquire) != SleepState::kAwake) return false;
  const std::int64_t last = peer.heartbeat.load(std::memory_order_relaxed);
  if (last == kNoHeartbeat || last >= reference) return false;
  // Unsigned: the difference of two signed numbers may not fit in one.
  return static_cast<std::uint64_t>(reference) - static_cast<std::uint64_t>(last) > kStuckAfterNs;
}

int WorkerHandoffPool::next_in_rotation(int worker, int step) const {
  const auto last = static_cast<int>(cell(worker).rotor.load(std::memory_order_relaxed));
  return (last + step) % size();
}

void WorkerHandoffPool::remember(int worker, int chosen) const {
  cells_[static_cast<std::size_t>(worker)].rotor.store(static_cast<std::uint32_t>(chosen), std::memory_order_relaxed);
}

}  // namespace flare::inline FLARE_ABI
