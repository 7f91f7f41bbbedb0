// worker_handoff_pool.h: one HandoffQueue per worker, and whom to hand a connection to.   Public header.
// Threads:    construction and moves: the control thread. The rest: any worker, as each method says.
// Owns:       the queues and the cells (load, sleeping, try-accept, paused, heartbeat). No descriptor: tokens
// are numbers. Bounds:     policy.capacity tokens per worker; scans are linear in the number of workers.
// Errors:     refusals are values. The constructor throws NetworkError(EINVAL): num_workers < 1 or a negative
// capacity. Ordering:   what happened before a push is visible to whoever takes the token. begin_sleep and a
// push (or
//             request_accept) on one worker are ordered by its queue's lock: either begin_sleep sees what was
//             put there, or the donor's needs_wake sees the sleeper (INV-06).
// Invariants: INV-03, INV-06, INV-07, INV-08, INV-09, INV-22.
// Not here:   wakers and descriptors (reactor/waker.h, worker/).
// Source:     seeds, flare.runtime.handoff.
#pragma once

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
  // connection_cap: most live connections plus queued tokens of a worker that a push may reach; 0 means no
  // cap.
  WorkerHandoffPool(const HandoffPolicy& policy, int num_workers, int connection_cap = 0);

  int size() const;
  const HandoffPolicy& policy() const;
  HandoffQueue& queue(int worker);

  // --- The seed's calls. An id out of range is refused (false, empty, -1).
  // False: disabled, full, closed or at its cap; the caller keeps the token and serves it.
  bool try_handoff(int target, std::int64_t token);
  std::vector<std::int64_t> drain_local(int worker);
  int peek_idle_worker(int exclude) const;
  // local_load: live connections plus own queued tokens, without the one being placed. -1: keep it.
  int choose_handoff_target(int local_worker, std::int64_t local_load) const;

  // --- Beyond the seed.
  // The same push, but it ignores policy.enabled and the cap: the way out for what a crashing worker holds.
  bool push_orphan(int target, std::int64_t token);
  // Whom a crashing worker can give a token: the least loaded peer that is neither closed, crashed, full nor
  // stuck; -1.
  int choose_orphan_target(int exclude) const;
  // Reuses out's memory: cleared, then filled in order. Adds the count to the worker's published load, under
  // the lock.
  void drain_local(int worker, std::vector<std::int64_t>& out);
  // Any thread; exactly one caller gets the tokens, later pushes are refused.
  std::vector<std::int64_t> close_and_drain(int worker);
  // Takes all of from's queue for taker and adds the count to taker's published load.
  std::vector<std::int64_t> take_back(int from, int taker);
  // How often from's queue was emptied by its owner: unchanged after limits::kTakeBackAfter means that it is
  // stuck.
  std::uint64_t drain_count(int worker) const;

  // --- Load, published by its worker, read by all.
  void publish_load(int worker, std::int64_t live);
  std::int64_t load(int worker) const;  // published live connections plus queued tokens
  bool below_cap(int worker) const;     // load < cap, or there is no cap
  void publish_heartbeat(int worker, MonoTime now);
  MonoTime heartbeat(int worker) const;
  void mark_crashed(int worker);

  // --- Sleep. Owner: begin_sleep before a poll that may block; false means that something waits and the poll
  // must not block. end_sleep after the poll, before the queue is drained. Donor: after the push; true at
  // most once per sleep.
  bool begin_sleep(int worker);
  void end_sleep(int worker);
  bool needs_wake(int target);

  // --- The exclusive wake that must not be swallowed.
  // Asks target to call accept by itself (then needs_wake, as after a push). False: target is closed, crashed
  // or out of range.
  bool request_accept(int target);
  bool take_accept_request(int worker);  // owner: true once per request, requests coalesce
  // A peer that can take a waiting connection: open, not crashed, not paused, below its cap, not stuck. -1:
  // none.
  int choose_acceptor(int exclude) const;
  // A worker that stopped accepting says so before its last try. Any change is seen by paused_peer
  // (sequentially consistent).
  void publish_paused(int worker, bool paused);
  int paused_count() const;
  int paused_peer(int exclude) const;  // a paused worker, in rotation; -1: none
};

}  // namespace flare::inline FLARE_ABI
