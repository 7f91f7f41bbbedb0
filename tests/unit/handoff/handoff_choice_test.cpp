// Whom the pool chooses, against a plain re-statement of the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "flare/handoff/worker_handoff_pool.h"

namespace flare::testing {
namespace {

using Loads = std::vector<std::int64_t>;
constexpr int kMost = 6;  // loads 0..6

HandoffPolicy on(int capacity, int threshold) {
  return HandoffPolicy(true, capacity, threshold);
}

MonoTime at_ms(std::int64_t ms) {
  return MonoTime(std::chrono::milliseconds(ms));
}

// The peers that may be chosen: the least loaded of those with room, below the cap and far enough from local_load.
std::set<int> allowed(const Loads& loads, const Loads& queued, int local, std::int64_t local_load, int capacity,
                      int cap, int threshold) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::set<int> peers;
  for (int peer = 0; peer < static_cast<int>(loads.size()); ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    if (peer == local || queued[at] >= capacity || (cap > 0 && loads[at] >= cap)) continue;
    if (loads[at] < least) peers.clear();
    least = std::min(least, loads[at]);
    if (loads[at] == least) peers.insert(peer);
  }
  if (!peers.empty() && local_load - least < std::max(threshold, 1)) peers.clear();
  return peers;
}

// Calls visit(loads) for every vector of that many loads, 0..kMost each.
template <class Visit>
void for_each_loads(std::size_t workers, Visit visit) {
  Loads loads(workers, 0);
  for (;;) {
    visit(loads);
    std::size_t at = 0;
    while (at < workers && ++loads[at] > kMost) loads[at++] = 0;
    if (at == workers) return;
  }
}

// One rule of a pool on every small vector of loads. How much of a load is live and how much is queued: queued_part of
// it, in thirds, is queued.
int wrong_choices(std::size_t workers, int capacity, int cap, int threshold, int queued_part) {
  WorkerHandoffPool pool(on(capacity, threshold), static_cast<int>(workers), cap);
  int wrong = 0;
  for_each_loads(workers, [&](const Loads& loads) {
    Loads queued(workers, 0);
    for (std::size_t worker = 0; worker < workers; ++worker) {
      HandoffQueue& queue = pool.queue(static_cast<int>(worker));
      queued[worker] = std::min<std::int64_t>(loads[worker] * queued_part / 3, capacity);
      queue.drain();
      for (std::int64_t token = 0; token < queued[worker]; ++token) queue.push(token);
      if (queued_part < 3 || queued[worker] < loads[worker]) {
        pool.publish_load(static_cast<int>(worker), loads[worker] - queued[worker]);
      }
    }
    for (std::int64_t local_load = 0; local_load <= kMost; ++local_load) {
      const std::set<int> right = allowed(loads, queued, 0, local_load, capacity, cap, threshold);
      const int chosen = pool.choose_handoff_target(0, local_load);
      if (right.empty() ? chosen != -1 : right.count(chosen) == 0) ++wrong;
    }
    const std::set<int> idle = allowed(loads, queued, 0, std::numeric_limits<int>::max(), capacity, cap, threshold);
    const int peeked = pool.peek_idle_worker(0);
    if (idle.empty() ? peeked != -1 : idle.count(peeked) == 0) ++wrong;
  });
  return wrong;
}

// proves: C-POOL-02, C-POOL-03, C-POOL-04, C-POOL-05, C-POOL-06, C-POLICY-04, INV-08
TEST(HandoffChoice, FollowsTheRuleOnEverySmallVectorOfLoads) {
  for (std::size_t workers = 1; workers <= 4; ++workers) {
    for (const int threshold : {-1, 0, 1, 4}) {
      for (const int queued_part : {0, 1}) {
        EXPECT_EQ(0, wrong_choices(workers, 2, 0, threshold, queued_part)) << workers << ' ' << threshold;
        EXPECT_EQ(0, wrong_choices(workers, 64, 5, threshold, queued_part)) << workers << ' ' << threshold;
      }
      // Nobody ever published: the seed's rule on queue depths.
      EXPECT_EQ(0, wrong_choices(workers, kMost, 0, threshold, 3)) << workers << ' ' << threshold;
    }
  }
}

// proves: C-POOL-02
TEST(HandoffChoice, StaysLocalWhenDisabledWhenAloneAndWhenThePeerIsBusier) {
  const WorkerHandoffPool disabled(HandoffPolicy(false, 4, 1), 2);
  EXPECT_EQ(-1, disabled.choose_handoff_target(0, 100));
  EXPECT_EQ(-1, disabled.peek_idle_worker(0));
  const WorkerHandoffPool alone(on(4, 1), 1);
  EXPECT_EQ(-1, alone.choose_handoff_target(0, 100));
  EXPECT_EQ(-1, alone.peek_idle_worker(0));
  EXPECT_EQ(-1, alone.choose_orphan_target(0));
  WorkerHandoffPool pool(on(4, 1), 2);
  pool.publish_load(1, 50);
  EXPECT_EQ(-1, pool.choose_handoff_target(0, 3));
  EXPECT_EQ(-1, pool.choose_handoff_target(0, std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(1, pool.choose_handoff_target(0, std::numeric_limits<std::int64_t>::max()));
}

// proves: C-POOL-05, INV-09
TEST(HandoffChoice, EqualPeersTakeTurnsAlsoWithABusyOneBetweenThem) {
  WorkerHandoffPool pool(on(4, 1), 5);
  pool.publish_load(3, 9);
  std::vector<int> chosen;
  for (int turn = 0; turn < 6; ++turn) chosen.push_back(pool.choose_handoff_target(0, 4));
  EXPECT_EQ((std::vector<int>{1, 2, 4, 1, 2, 4}), chosen);
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(chosen[static_cast<std::size_t>(turn)], pool.peek_idle_worker(0));
}

// Also when it is worker 0 that was chosen last.
// proves: C-POOL-05, INV-09
TEST(HandoffChoice, TwoEqualPeersTakeTurnsForEveryKindOfChoice) {
  const WorkerHandoffPool pool(on(4, 1), 3);
  const std::vector<std::function<int()>> kinds = {
      [&] { return pool.choose_handoff_target(2, 4); }, [&] { return pool.peek_idle_worker(2); },
      [&] { return pool.choose_orphan_target(2); }, [&] { return pool.choose_acceptor(2); }};
  for (const std::function<int()>& choose : kinds) {
    const int first = choose();
    ASSERT_TRUE(first == 0 || first == 1) << first;
    for (int turn = 1; turn < 6; ++turn) EXPECT_EQ(turn % 2 == 0 ? first : 1 - first, choose());
  }
}

// proves: C-POOL-05, INV-09
TEST(HandoffChoice, DonorsBeginAtDifferentPeers) {
  const WorkerHandoffPool pool(on(4, 1), 4);
  std::set<int> first;
  for (int donor = 0; donor < 4; ++donor) first.insert(pool.choose_handoff_target(donor, 4));
  EXPECT_EQ(4U, first.size());
}

// proves: C-POOL-03, INV-08
TEST(HandoffChoice, LeavesOutClosedAndCrashedPeersAndOneThatIsAtItsCapOrFull) {
  WorkerHandoffPool pool(on(1, 1), 6, 5);
  EXPECT_TRUE(pool.close_and_drain(1).empty());
  pool.mark_crashed(2);
  pool.publish_load(3, 5);
  EXPECT_TRUE(pool.try_handoff(4, 1));
  pool.publish_load(5, 4);
  for (int turn = 0; turn < 8; ++turn) {
    EXPECT_EQ(5, pool.choose_handoff_target(0, 9));
    EXPECT_EQ(5, pool.peek_idle_worker(0));
  }
  EXPECT_EQ(5, pool.choose_orphan_target(0));
  pool.publish_load(5, 6);
  EXPECT_EQ(-1, pool.choose_handoff_target(0, 9));
  EXPECT_EQ(3, pool.choose_orphan_target(0));  // an orphan ignores the cap
  EXPECT_EQ(4, pool.choose_acceptor(0));       // who accepts by itself needs no room in its queue
}

// A worker inside a long handler has an empty queue and looks idle.
// proves: C-POOL-03, INV-08
TEST(HandoffChoice, LeavesOutAnAwakePeerWhoseHeartbeatIsTooOld) {
  WorkerHandoffPool pool(on(4, 1), 2);
  const auto chosen = [&pool](std::int64_t peer_ms, std::int64_t own_ms) {
    pool.publish_heartbeat(1, at_ms(peer_ms));
    pool.publish_heartbeat(0, at_ms(own_ms));
    return pool.choose_handoff_target(0, 4);
  };
  EXPECT_EQ(1, pool.choose_handoff_target(0, 4));  // no heartbeats yet
  pool.publish_heartbeat(0, at_ms(5000));
  EXPECT_EQ(1, pool.choose_handoff_target(0, 4));  // the peer has not begun its loop
  EXPECT_EQ(1, chosen(1000, 1100));
  EXPECT_EQ(-1, chosen(1000, 1101));
  EXPECT_EQ(-1, pool.peek_idle_worker(0));
  EXPECT_EQ(-1, pool.choose_orphan_target(0));
  EXPECT_EQ(-1, pool.choose_acceptor(0));
  EXPECT_EQ(1, chosen(2000, 1000));
  EXPECT_EQ(-1, chosen(1000, 9000));
  EXPECT_TRUE(pool.begin_sleep(1));  // asleep, not stuck
  EXPECT_EQ(1, pool.choose_handoff_target(0, 4));
  EXPECT_TRUE(pool.needs_wake(1));  // a wake is under way
  EXPECT_EQ(1, pool.choose_handoff_target(0, 4));
  pool.end_sleep(1);
  EXPECT_EQ(-1, pool.choose_handoff_target(0, 4));
  EXPECT_EQ(at_ms(1000), pool.heartbeat(1));
}

TEST(HandoffChoice, ACallerWithoutAHeartbeatComparesWithTheNewestOne) {
  WorkerHandoffPool pool(on(4, 1), 3);
  pool.publish_heartbeat(1, at_ms(1000));
  pool.publish_heartbeat(2, at_ms(1500));
  for (int turn = 0; turn < 4; ++turn) EXPECT_EQ(2, pool.peek_idle_worker(0));
}

TEST(HandoffChoice, AnAcceptorIsNotPausedAndBelowItsCapAlsoWithTheHandoffOff) {
  WorkerHandoffPool pool(HandoffPolicy(false, 4, 1), 4, 2);
  pool.publish_paused(1, true);
  pool.publish_load(2, 2);
  pool.publish_load(3, 1);
  for (int turn = 0; turn < 4; ++turn) EXPECT_EQ(3, pool.choose_acceptor(0));
  pool.publish_paused(3, true);
  EXPECT_EQ(-1, pool.choose_acceptor(0));
  pool.publish_paused(1, false);
  EXPECT_EQ(1, pool.choose_acceptor(0));
}

// Paused or not: who waits for a place looks again only while a peer could have one.
// proves: C-ACCEPT-05
TEST(HandoffChoice, APeerBelowItsCapIsOneThatIsOpenAndAlive) {
  WorkerHandoffPool pool(HandoffPolicy(false, 4, 1), 4, 2);
  for (int peer = 1; peer < 4; ++peer) pool.publish_load(peer, 1);
  EXPECT_TRUE(pool.is_any_peer_below_cap(0));
  pool.publish_load(1, 2);
  pool.mark_crashed(2);
  EXPECT_TRUE(pool.is_any_peer_below_cap(0));
  pool.publish_load(0, 2);
  EXPECT_FALSE(pool.is_any_peer_below_cap(3)) << "its own place is no peer's";
  EXPECT_TRUE(pool.close_and_drain(3).empty());
  EXPECT_FALSE(pool.is_any_peer_below_cap(0));
  pool.publish_load(1, 1);
  EXPECT_TRUE(pool.is_any_peer_below_cap(0));
}

}  // namespace
}  // namespace flare::testing
