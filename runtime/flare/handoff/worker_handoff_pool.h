// worker_handoff_pool.h: one HandoffQueue per worker, and whom to hand a connection to.   Public header.
// Threads:    construction and moves: the control thread, while nobody else uses the pool. The rest: any worker, as
//             each method says; "owner" is the worker that the id names.
// Owns:       the queues and the cells (load, sleeping, try-accept, paused, heartbeat). No descriptor: tokens are
//             numbers.
// Bounds:     policy.capacity tokens per worker; scans are linear in the number of workers.
// Errors:     refusals are values; an id out of range is refused (false, empty, -1, 0), only queue() asserts. The
//             constructor throws NetworkError(EINVAL): num_workers < 1, a negative capacity or cap.
// Ordering:   what happened before a push is visible to whoever takes the token. begin_sleep and a push (or
//             request_accept) on one worker are ordered by its queue's lock: either begin_sleep sees what was put
//             there, or the donor's needs_wake sees the sleeper (INV-06).
// Invariants: INV-03, INV-06, INV-07, INV-08, INV-09, INV-22.
// Not here:   wakers and descriptors (reactor/waker.h, worker/).
// Source:     seeds, flare.runtime.handoff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/sync.h"
#include "flare/base/time.h"
#include "flare/handoff/handoff_policy.h"
#include "flare/handoff/handoff_queue.h"

namespace flare::inline FLARE_ABI {

class WorkerHandoffPool {
 public:
  // connection_cap: most live connections plus queued tokens of a worker that a push may reach; 0 means no cap.
  WorkerHandoffPool(const HandoffPolicy& policy, int num_workers, int connection_cap = 0);
  WorkerHandoffPool(WorkerHandoffPool&&) noexcept = default;  // the source has size 0 and refuses everything
  WorkerHandoffPool& operator=(WorkerHandoffPool&&) noexcept = default;

  int size() const { return static_cast<int>(cells_.size()); }
  const HandoffPolicy& policy() const { return policy_; }
  HandoffQueue& queue(int worker);  // an id out of range aborts

  // --- The seed's calls. An id out of range is refused (false, empty, -1).
  // Any worker. False: disabled, or target is full, closed, crashed or at its cap; the caller keeps the token.
  bool try_handoff(int target, std::int64_t token);
  // The same for a token that make() gives, or not (nothing): it is called, once and under the queue's lock, only when
  // target is sure to take the token. So whoever has no place of its own never holds what its peer then refuses.
  template <class Make>
  bool handoff_made(int target, Make&& make) {
    if (!policy_.enabled || !is_worker(target)) return false;
    return queue_of(target).push_made([this, target](std::int64_t queued) { return has_place(target, queued); }, make);
  }
  // Owner. Everything queued, oldest first; see the second form.
  std::vector<std::int64_t> drain_local(int worker);
  // Any worker. The least loaded peer that is open, not crashed, not full, below its cap and not stuck; ties in
  // rotation. -1: disabled, or there is none.
  int peek_idle_worker(int exclude) const;
  // Any worker, for itself. That peer, if local_load exceeds its load by steal_threshold or more. -1: keep it.
  // local_load: live connections plus own queued tokens, without the one being placed.
  int choose_handoff_target(int local_worker, std::int64_t local_load) const;

  // --- Beyond the seed.
  // Any worker. The same push, but it ignores policy.enabled and the cap: the way out for what a crashing worker holds.
  // A full, closed or crashed target refuses it too.
  bool push_orphan(int target, std::int64_t token);
  // Whom a crashing worker can give a token: the least loaded peer that is neither closed, crashed, full nor stuck; -1.
  int choose_orphan_target(int exclude) const;
  // Owner. Reuses out's memory: cleared, then filled in order. Adds the count to the worker's published load, if it
  // ever published, under the lock and before the queue's size falls: no load is invisible in between.
  void drain_local(int worker, std::vector<std::int64_t>& out);
  // Any thread; of all callers exactly one gets each token, later pushes are refused.
  std::vector<std::int64_t> close_and_drain(int worker);
  // Taker. Takes all of from's queue and adds the count to taker's published load, like drain_local. from == taker is
  // refused.
  std::vector<std::int64_t> take_back(int from, int taker);
  // Any worker. How often worker's owner took what stood in its queue. Read it before a push: unchanged
  // limits::kTakeBackAfter later it means that the owner has not taken the token, and is stuck.
  std::uint64_t drain_count(int worker) const;

  // --- Load, published by its worker, read by all.
  // Owner. live: connections it serves, an absolute number; below 0 counts as 0. Whoever freed a place publishes first
  // and asks paused_count() then.
  void publish_load(int worker, std::int64_t live);
  // Published live connections (0 before the first publish) plus queued tokens. While the queue is drained it may
  // count the tokens that move twice, never not at all. -1: no such worker.
  std::int64_t load(int worker) const;
  bool below_cap(int worker) const;  // load < cap, or there is no cap
  // An open peer that did not crash is below its cap: it has a place, even if it is stuck or its queue full just now.
  bool is_any_peer_below_cap(int exclude) const;
  // Owner. After a poll: before end_sleep, or the worker looks stuck for a moment.
  void publish_heartbeat(int worker, MonoTime now);
  MonoTime heartbeat(int worker) const;  // MonoTime{} when it never published one
  void mark_crashed(int worker);
  // Any thread. For statistics: they may be old when they are read. 0 and false: no such worker.
  std::size_t queue_depth(int worker) const { return is_worker(worker) ? queue_of(worker).size() : 0; }
  bool is_sleeping(int worker) const {
    return is_worker(worker) && cell(worker).sleep.load(std::memory_order_relaxed) != SleepState::kAwake;
  }

  // --- Sleep. Owner: begin_sleep before a poll that may block; false means that something waits and the poll must not
  // block (the worker then counts as awake). end_sleep after the poll, before the queue is drained. Donor: after the
  // push; true at most once per sleep, and whoever got true sends the wake.
  bool begin_sleep(int worker);
  void end_sleep(int worker);
  bool needs_wake(int target);

  // --- The exclusive wake that must not be swallowed.
  // Asks target to call accept by itself (then needs_wake, as after a push). False: target is closed, crashed or out
  // of range.
  bool request_accept(int target);
  bool take_accept_request(int worker);  // owner: true once per request, requests coalesce
  // The least loaded peer that can take a waiting connection: open, not crashed, not paused, below its cap, not stuck;
  // one that sleeps before one that is awake. -1: none.
  int choose_acceptor(int exclude) const;
  // Owner. A worker that stopped accepting says so before its last try. Any change is seen by paused_peer
  // (sequentially consistent).
  void publish_paused(int worker, bool paused);
  int paused_count() const;
  int paused_peer(int exclude) const;  // a paused worker that is open and not crashed, in rotation; -1: none

 private:
  enum class SleepState : std::uint8_t {
    kAwake,
    kSleeping,
    kWoken,  // asleep still, but some donor has taken it on itself to send the wake
  };
  // What a worker says about itself; one cache line, so that no worker's writes slow a neighbour's.
  struct alignas(64) Cell {
    // Live connections; -1: never published. Sequentially consistent on both sides: a worker that frees a place
    // stores here and then reads paused_count; a worker that pauses raises paused_count and then reads here. One of
    // the two sees the other (Dekker).
    Atomic<std::int64_t> live{-1};
    // Relaxed: an age, compared with another age; nothing is read on the strength of it. kNoHeartbeat: none yet.
    Atomic<std::int64_t> heartbeat{kNoHeartbeat};
    // Relaxed: written under the queue's lock by the owner. A donor that reads it after its push, which held the same
    // lock, misses no drain before the push.
    Atomic<std::uint64_t> drains{0};
    // The peer that this worker chose last; the next scan begins behind it. Relaxed: a stale value costs fairness of
    // ties only, and as a rule only the worker itself uses it.
    Atomic<std::uint32_t> rotor{0};
    // The queue's lock orders it for begin_sleep and needs_wake, which use relaxed. end_sleep releases, and who looks
    // for a stuck worker acquires: it then sees the heartbeat that was published before.
    Atomic<SleepState> sleep{SleepState::kAwake};
    // Stored under the queue's lock and read there by begin_sleep; taken by exchange (acquire, partner: the store with
    // release), so that what the requester did before is seen by the accept that follows.
    Atomic<bool> accept_requested{false};
    // Sequentially consistent, see live and paused_count_.
    Atomic<bool> paused{false};
    // Relaxed: a hint. The truth is the queue that the crashed worker closes next, and whoever closes gets what came in
    // between.
    Atomic<bool> crashed{false};
  };
  // Workers whose paused cell is set; own line, since all read it at every close. Sequentially consistent, raised
  // after the cell is set, so whoever sees it raised finds the cell.
  struct alignas(64) PausedCount {
    Atomic<int> value{0};
  };
  // What a scan asks for beyond open, not crashed, not stuck.
  struct Wanted {
    bool room = false;
    bool below_cap = false;
    bool not_paused = false;
    bool asleep = false;
  };
  struct Choice {
    int worker = -1;
    std::int64_t load = 0;
  };
  static constexpr std::int64_t kNoHeartbeat = INT64_MIN;

  bool is_worker(int id) const { return id >= 0 && id < size(); }
  const Cell& cell(int worker) const { return cells_[static_cast<std::size_t>(worker)]; }
  Cell& cell(int worker) { return cells_[static_cast<std::size_t>(worker)]; }
  const HandoffQueue& queue_of(int worker) const { return queues_[static_cast<std::size_t>(worker)]; }
  HandoffQueue& queue_of(int worker) { return queues_[static_cast<std::size_t>(worker)]; }
  bool is_crashed(int worker) const { return cell(worker).crashed.load(std::memory_order_relaxed); }
  std::int64_t live(int worker) const;
  // Under worker's queue's lock.
  bool has_place(int worker, std::int64_t queued) const {
    return !is_crashed(worker) && (connection_cap_ == 0 || live(worker) + queued < connection_cap_);
  }
  void add_live(int worker, std::int64_t count);
  std::int64_t reference_heartbeat(int caller) const;
  bool is_stuck(int worker, std::int64_t reference) const;
  bool is_eligible(int worker, const Wanted& wanted, std::int64_t load, std::int64_t reference) const;
  Choice least_loaded_peer(int exclude, const Wanted& wanted) const;
  int next_in_rotation(int worker, int step) const;
  void remember(int worker, int chosen) const;

  HandoffPolicy policy_;
  std::int64_t connection_cap_;
  std::vector<HandoffQueue> queues_;
  mutable std::vector<Cell> cells_;  // mutable: the rotors, which choosing moves on
  std::unique_ptr<PausedCount> paused_count_;
};

}  // namespace flare::inline FLARE_ABI
