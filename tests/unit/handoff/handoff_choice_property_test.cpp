// Whom the pool chooses among up to 16 workers in any state, against a plain re-statement of the rules.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <vector>

#include "flare/base/limits.h"
#include "flare/handoff/worker_handoff_pool.h"

namespace flare::testing {
namespace {

struct Peer {
  std::int64_t live = 0;
  std::int64_t queued = 0;
  bool closed = false;
  bool crashed = false;
  bool silent = false;  // its last heartbeat is old: stuck, unless it sleeps
  bool asleep = false;
  bool paused = false;
  std::int64_t load() const { return live + queued; }
};

struct Rules {
  int capacity = 4;
  int threshold = 1;
  int cap = 0;  // 0: none
};

// Who may be asked for something, by what it takes: room in its queue, a place below the cap, not being paused, sleep.
struct Wanted {
  bool room = false;
  bool place = false;
  bool unpaused = false;
  bool asleep = false;
};

std::set<int> least_loaded(const std::vector<Peer>& peers, const Rules& rules, const Wanted& wanted) {
  std::set<int> best;
  for (std::size_t i = 1; i < peers.size(); ++i) {
    const Peer& peer = peers[i];
    if (peer.closed || peer.crashed || (peer.silent && !peer.asleep)) continue;
    if (wanted.room && peer.queued >= rules.capacity) continue;
    if (wanted.place && rules.cap > 0 && peer.load() >= rules.cap) continue;
    if ((wanted.unpaused && peer.paused) || (wanted.asleep && !peer.asleep)) continue;
    const std::int64_t least = best.empty() ? INT64_MAX : peers[static_cast<std::size_t>(*best.begin())].load();
    if (peer.load() < least) best.clear();
    if (peer.load() <= least) best.insert(static_cast<int>(i));
  }
  return best;
}

bool one_in(int n) {
  return *rc::gen::inRange(0, n) == 0;
}

Peer any_peer(const Rules& rules) {
  Peer peer;
  peer.live = *rc::gen::inRange(0, 9);
  peer.queued = one_in(3) ? rules.capacity : *rc::gen::inRange(0, rules.capacity + 1);
  peer.closed = one_in(6);
  peer.crashed = one_in(6);
  peer.silent = one_in(4);
  peer.asleep = one_in(2);
  peer.paused = one_in(4);
  return peer;
}

constexpr MonoTime kNow = MonoTime(std::chrono::hours(1));

void bring_about(WorkerHandoffPool& pool, int id, const Peer& peer) {
  pool.publish_load(id, peer.live);
  pool.publish_heartbeat(id, peer.silent ? kNow - limits::kStuckAfter - std::chrono::milliseconds(1) : kNow);
  if (peer.asleep) RC_ASSERT(pool.begin_sleep(id));
  for (std::int64_t token = 0; token < peer.queued; ++token) RC_ASSERT(pool.queue(id).push(token));
  pool.publish_paused(id, peer.paused);
  if (peer.crashed) pool.mark_crashed(id);
  if (peer.closed) pool.queue(id).close();
}

bool is_right(int chosen, const std::set<int>& right) {
  return right.empty() ? chosen == -1 : right.count(chosen) == 1;
}

// proves: C-POOL-02, C-POOL-03, C-POOL-04, C-POOL-06, INV-08
RC_GTEST_PROP(HandoffChoiceProperty, FollowsTheRulesWithPeersInAnyState, ()) {
  Rules rules;
  rules.capacity = *rc::gen::inRange(0, 5);
  rules.threshold = *rc::gen::inRange(-1, 5);
  rules.cap = one_in(2) ? 0 : *rc::gen::inRange(1, 9);
  std::vector<Peer> peers(static_cast<std::size_t>(*rc::gen::inRange(1, 17)));
  WorkerHandoffPool pool(HandoffPolicy(true, rules.capacity, rules.threshold), static_cast<int>(peers.size()),
                         rules.cap);
  pool.publish_heartbeat(0, kNow);
  for (std::size_t i = 1; i < peers.size(); ++i) {
    peers[i] = any_peer(rules);
    bring_about(pool, static_cast<int>(i), peers[i]);
  }
  const std::set<int> targets = least_loaded(peers, rules, {.room = true, .place = true});
  RC_ASSERT(is_right(pool.peek_idle_worker(0), targets));
  const std::int64_t local = *rc::gen::inRange(0, 20);
  const bool far = !targets.empty() &&
                   local - peers[static_cast<std::size_t>(*targets.begin())].load() >= std::max(rules.threshold, 1);
  RC_ASSERT(is_right(pool.choose_handoff_target(0, local), far ? targets : std::set<int>{}));
  RC_ASSERT(is_right(pool.choose_orphan_target(0), least_loaded(peers, rules, {.room = true})));
  std::set<int> acceptors = least_loaded(peers, rules, {.place = true, .unpaused = true, .asleep = true});
  if (acceptors.empty()) acceptors = least_loaded(peers, rules, {.place = true, .unpaused = true});
  RC_ASSERT(is_right(pool.choose_acceptor(0), acceptors));
  // Ties take turns: as many choices as there are equals are all of them.
  std::set<int> chosen;
  for (std::size_t i = 0; i < targets.size(); ++i) chosen.insert(pool.peek_idle_worker(0));
  RC_ASSERT(targets.empty() || chosen == targets);
}

}  // namespace
}  // namespace flare::testing
