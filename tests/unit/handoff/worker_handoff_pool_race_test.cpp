// The pool between real threads; run under tsan too. A lost wake shows as a token that nobody served, by deadline.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "flare/handoff/worker_handoff_pool.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

using Tokens = std::vector<std::int64_t>;

HandoffPolicy on(int capacity) {
  return HandoffPolicy(true, capacity, 1);
}

// What an eventfd is to a worker: it wakes the sleeper or the next one who sleeps, and coalesces. No time-out.
class Bell {
 public:
  void ring() {
    rung_.store(true);
    rung_.notify_all();
  }
  void wait() {
    rung_.wait(false);
    rung_.store(false);
  }

 private:
  std::atomic<bool> rung_{false};
};

// A worker that does nothing but sleep, adopt and answer accept requests, until it is told to stop.
struct Sleeper {
  explicit Sleeper(WorkerHandoffPool& shared) : pool(shared) {}

  WorkerHandoffPool& pool;
  Bell bell;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> served{0};
  std::atomic<std::int64_t> accept_passes{0};

  void run() {
    Tokens taken;
    while (!stop.load()) {
      if (pool.begin_sleep(1)) bell.wait();
      pool.end_sleep(1);
      pool.drain_local(1, taken);
      served.fetch_add(static_cast<std::int64_t>(taken.size()));
      if (pool.take_accept_request(1)) accept_passes.fetch_add(1);
    }
  }
};

// proves: C-POOL-09, INV-06, INV-20
TEST(WorkerHandoffPoolRace, NoTokenIsStrandedWithASleeperThatOnlyAWakeEnds) {
  constexpr std::int64_t kTokens = 4000;
  WorkerHandoffPool pool(on(4), 4);
  Sleeper sleeper(pool);
  std::thread owner([&sleeper] { sleeper.run(); });
  std::atomic<std::int64_t> kept{0};
  std::atomic<std::int64_t> answered{0};
  std::vector<std::thread> donors;
  for (int donor = 0; donor < 2; ++donor) {
    donors.emplace_back([&] {
      for (std::int64_t token = 0; token < kTokens; ++token) {
        if (pool.try_handoff(1, token)) {
          if (pool.needs_wake(1)) sleeper.bell.ring();
        } else {
          kept.fetch_add(1);
        }
        if (token % 3 == 0) std::this_thread::yield();
      }
      answered.fetch_add(1);
    });
  }
  for (std::thread& donor : donors) donor.join();
  EXPECT_TRUE(wait_until([&] { return sleeper.served.load() + kept.load() == 2 * kTokens; }))
      << "served " << sleeper.served.load() << " kept " << kept.load();
  sleeper.stop.store(true);
  sleeper.bell.ring();
  owner.join();
  EXPECT_EQ(0U, pool.queue(1).size());
}

// proves: C-POOL-09, INV-06
TEST(WorkerHandoffPoolRace, NoAcceptRequestIsSwallowed) {
  WorkerHandoffPool pool(on(4), 2);
  Sleeper sleeper(pool);
  std::thread owner([&sleeper] { sleeper.run(); });
  std::int64_t lost = 0;
  for (std::int64_t request = 1; request <= 1000 && lost == 0; ++request) {
    pool.request_accept(1);
    if (pool.needs_wake(1)) sleeper.bell.ring();
    if (!wait_until([&] { return sleeper.accept_passes.load() == request; })) ++lost;
  }
  EXPECT_EQ(0, lost);
  sleeper.stop.store(true);
  sleeper.bell.ring();
  owner.join();
}

// The store comes before the lock: a donor that pushes after begin_sleep has looked must see the sleeper.
// proves: C-POOL-09, INV-06
TEST(WorkerHandoffPoolRace, AWorkerSaysThatItSleepsBeforeItLooksUnderTheLock) {
  WorkerHandoffPool pool(on(4), 2);
  std::thread owner;
  const bool seen = pool.queue(1).under_lock([&](std::uint32_t, bool) {
    owner = std::thread([&pool] { pool.begin_sleep(1); });  // stays at the lock
    return wait_until([&pool] { return pool.needs_wake(1); });
  });
  owner.join();
  EXPECT_TRUE(seen);
}

// Both donors are on their way in while the lock is held: what they asked before it is old when they get it.
// proves: C-POOL-01
TEST(WorkerHandoffPoolRace, TheCapIsAskedUnderTheLock) {
  int over = 0;
  for (int round = 0; round < 50; ++round) {
    WorkerHandoffPool pool(on(64), 4, 1);
    std::atomic<int> entering{0};
    std::vector<std::thread> donors;
    pool.queue(1).under_lock([&](std::uint32_t, bool) {
      for (int donor = 0; donor < 2; ++donor) {
        donors.emplace_back([&pool, &entering] {
          entering.fetch_add(1);
          pool.try_handoff(1, 7);
        });
      }
      while (entering.load() < 2) std::this_thread::yield();
      for (int turn = 0; turn < 50; ++turn) std::this_thread::yield();
      return true;
    });
    for (std::thread& donor : donors) donor.join();
    if (pool.queue(1).size() != 1) ++over;
  }
  EXPECT_EQ(0, over);
}

// Asked outside the lock, the last place of a worker could be given away twice.
// proves: C-POOL-01
TEST(WorkerHandoffPoolRace, ConcurrentDonorsNeverPushAWorkerOverItsCap) {
  constexpr int kCap = 3;
  int over = 0;
  int under = 0;
  WorkerHandoffPool pool(on(64), 4, kCap);
  pool.publish_load(1, 1);
  std::atomic<int> round{0};
  std::atomic<int> done{0};
  constexpr int kRounds = 1500;
  std::vector<std::thread> donors;
  for (int donor = 0; donor < 3; ++donor) {
    donors.emplace_back([&] {
      for (int mine = 1; mine <= kRounds; ++mine) {
        while (round.load() < mine) std::this_thread::yield();
        pool.try_handoff(1, mine);
        done.fetch_add(1);
      }
    });
  }
  for (int current = 1; current <= kRounds; ++current) {
    round.store(current);
    while (done.load() < 3 * current) std::this_thread::yield();
    if (pool.load(1) > kCap) ++over;
    if (pool.load(1) < kCap) ++under;
    pool.drain_local(1);
    pool.publish_load(1, 1);
  }
  for (std::thread& donor : donors) donor.join();
  EXPECT_EQ(0, over);
  EXPECT_EQ(0, under);
}

// proves: C-POOL-07, INV-22
TEST(WorkerHandoffPoolRace, AnObserverNeverSeesTheLoadFallWhileTokensMoveFromQueueToTable) {
  WorkerHandoffPool pool(on(64), 2);
  pool.publish_load(1, 0);
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> least{0};  // load that is there for sure: only what is published may fall
  std::atomic<int> fell{0};
  std::atomic<bool> started{false};
  std::thread observer([&] {
    started.store(true);
    while (!stop.load()) {
      const std::int64_t sure = least.load();
      if (pool.load(1) < sure) fell.fetch_add(1);
    }
  });
  while (!started.load()) std::this_thread::yield();
  Tokens taken;
  for (std::int64_t token = 1; token <= 200'000; ++token) {
    pool.try_handoff(1, token);
    least.store(token);
    pool.drain_local(1, taken);
  }
  stop.store(true);
  observer.join();
  EXPECT_EQ(0, fell.load());
  EXPECT_EQ(200'000, pool.load(1));
}

// The owner drains, a peer takes back, the control thread closes: each token ends in one hand, or with its donor.
// proves: C-POOL-08, INV-07
TEST(WorkerHandoffPoolRace, TakeBackDrainAndCloseShareTheTokensWithoutLossOrDoubling) {
  for (int round = 0; round < 200; ++round) {
    WorkerHandoffPool pool(on(8), 3);
    std::atomic<bool> go{false};
    std::vector<Tokens> hands(4);
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      while (!go.load()) std::this_thread::yield();
      for (int turn = 0; turn < 4; ++turn) {
        for (const std::int64_t token : pool.take_back(1, 0)) hands[0].push_back(token);
      }
    });
    threads.emplace_back([&] {
      while (!go.load()) std::this_thread::yield();
      for (int turn = 0; turn < 4; ++turn) {
        for (const std::int64_t token : pool.drain_local(1)) hands[1].push_back(token);
      }
    });
    threads.emplace_back([&] {
      while (!go.load()) std::this_thread::yield();
      for (std::int64_t token = 0; token < 20; ++token) {
        if (!pool.try_handoff(1, token)) hands[2].push_back(token);
      }
    });
    go.store(true);
    if (round % 2 == 0) std::this_thread::yield();
    hands[3] = pool.close_and_drain(1);
    for (std::thread& thread : threads) thread.join();
    Tokens all;
    for (const Tokens& hand : hands) {
      EXPECT_TRUE(std::is_sorted(hand.begin(), hand.end()));
      all.insert(all.end(), hand.begin(), hand.end());
    }
    std::sort(all.begin(), all.end());
    Tokens expected;
    for (std::int64_t token = 0; token < 20; ++token) expected.push_back(token);
    EXPECT_EQ(expected, all);
    EXPECT_EQ(0U, pool.queue(1).size());
  }
}

// Whoever falls below its cap and sees nobody paused was seen by whoever pauses.
// proves: INV-17
TEST(WorkerHandoffPoolRace, APauserAndAFreerSeeAtLeastOneOfTheirTwoCells) {
  constexpr int kRounds = 4000;
  int neither = 0;
  WorkerHandoffPool pool(on(4), 2, 1);
  std::atomic<int> round{0};
  std::atomic<int> done{0};
  std::atomic<bool> seen_free{false};
  std::thread pauser([&] {
    for (int mine = 1; mine <= kRounds; ++mine) {
      // Spins a little, so that both sides start together, and no longer, since cores may be shared.
      for (int spins = 0; round.load() < mine; ++spins) {
        if (spins > 200) std::this_thread::yield();
      }
      pool.publish_paused(1, true);
      seen_free.store(pool.below_cap(0));
      done.fetch_add(1);
    }
  });
  for (int current = 1; current <= kRounds; ++current) {
    pool.publish_load(0, 1);
    pool.publish_paused(1, false);
    round.store(current);
    pool.publish_load(0, 0);
    const bool seen_paused = pool.paused_count() > 0 && pool.paused_peer(0) == 1;
    while (done.load() < current) std::this_thread::yield();
    if (!seen_paused && !seen_free.load()) ++neither;
  }
  pauser.join();
  EXPECT_EQ(0, neither);
}

}  // namespace
}  // namespace flare::testing
