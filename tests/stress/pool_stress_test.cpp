// All workers donate to all others, adopt, fall asleep and are woken. Nobody has a time limit: a lost wake shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <vector>

#include "flare/handoff/worker_handoff_pool.h"
#include "flare/reactor/reactor.h"
#include "stress.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

using Tokens = std::vector<std::int64_t>;

constexpr int kWorkers = 4;
constexpr std::int64_t kTokens = 24;
constexpr std::int64_t kHops = 20'000;

// One worker, as the serving loop is one: a table of tokens, a poller, a wake descriptor that its peers know.
struct Worker {
  Shared<Waker> waker = share<Waker>();
  Tokens table;
  std::atomic<bool> asleep{false};
  std::int64_t refused = 0;
  std::int64_t slept = 0;
};

class Ring {
 public:
  explicit Ring(std::uint64_t seed) : seed_(seed) {
    for (std::int64_t token = 0; token < kTokens; ++token) workers_[0].table.push_back(token);
  }

  void go() {
    run_together(kWorkers + 1, [this](int thread) {
      if (thread == kWorkers) return watch();
      serve(thread, Dice(seed_, static_cast<std::uint64_t>(thread)));
    });
    EXPECT_GE(hops_.load(), kHops) << "everybody slept, and something was still to do: a wake was lost";
    Tokens all;
    for (int id = 0; id < kWorkers; ++id) {
      Worker& one = workers_[static_cast<std::size_t>(id)];
      all.insert(all.end(), one.table.begin(), one.table.end());
      for (const std::int64_t token : pool_.close_and_drain(id)) all.push_back(token);
      EXPECT_GT(one.slept, 0) << "worker " << id;
      EXPECT_EQ(pool_.queue(id).pushes(), pool_.queue(id).pops());
    }
    std::sort(all.begin(), all.end());
    Tokens expected(kTokens);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(expected, all);
  }

 private:
  bool all_asleep() const {
    return std::all_of(workers_.begin(), workers_.end(), [](const Worker& one) { return one.asleep.load(); });
  }
  // Somebody always has a token in hand or in its queue, so somebody is awake or about to be woken: that all sleep must
  // not last.
  void watch() {
    while (hops_.load() < kHops) {
      if (!all_asleep() || wait_until([this] { return !all_asleep() || hops_.load() >= kHops; })) {
        std::this_thread::yield();
        continue;
      }
      break;
    }
    over_.store(true);
    for (const Worker& one : workers_) one.waker->wake();
  }

  void serve(int id, Dice dice) {
    Worker& self = workers_[static_cast<std::size_t>(id)];
    Reactor reactor(self.waker);
    std::vector<Event> events;
    Tokens arrived;
    while (!over_.load()) {
      pool_.drain_local(id, arrived);
      self.table.insert(self.table.end(), arrived.begin(), arrived.end());
      dice.delay();
      pool_.publish_load(id, static_cast<std::int64_t>(self.table.size()));
      if (!self.table.empty()) donate(id, self, dice);
      // Who has tokens polls without sleeping; who has none sleeps until it is woken.
      const bool sleeps = self.table.empty() && pool_.begin_sleep(id);
      if (sleeps) {
        ++self.slept;
        self.asleep.store(true);
      }
      reactor.poll(sleeps ? -1 : 0, events);
      self.asleep.store(false);
      pool_.end_sleep(id);
    }
  }
  void donate(int id, Worker& self, Dice& dice) {
    int target =
        dice.one_in(2) ? pool_.peek_idle_worker(id) : (id + 1 + static_cast<int>(dice.below(kWorkers - 1))) % kWorkers;
    if (target < 0) return;
    dice.delay();
    if (!pool_.try_handoff(target, self.table.back())) {
      ++self.refused;
      return;
    }
    self.table.pop_back();
    dice.delay();
    if (pool_.needs_wake(target)) workers_[static_cast<std::size_t>(target)].waker->wake();
    hops_.fetch_add(1);
  }

  std::uint64_t seed_;
  WorkerHandoffPool pool_{HandoffPolicy(true, 4, 1), kWorkers};
  std::array<Worker, kWorkers> workers_;
  std::atomic<std::int64_t> hops_{0};
  std::atomic<bool> over_{false};
};

// proves: C-POOL-09, C-SERVE-03, INV-01, INV-06, INV-20
TEST(PoolStress, AllWorkersDonateAdoptAndSleepAndNoTokenIsStranded) {
  Ring(random_seed("stress_runtime", "PoolStress.All*")).go();
}

// A donor at a time, against a sleeper that has just decided to sleep, is about to, or is just up again.
// proves: C-POOL-09, C-REACTOR-09, INV-06, INV-20
TEST(PoolStress, AWakeMeetsEveryMomentOfFallingAsleep) {
  const std::uint64_t seed = random_seed("stress_runtime", "PoolStress.AWake*");
  constexpr std::int64_t kRounds = 20'000;
  WorkerHandoffPool pool(HandoffPolicy(true, 4, 1), 2);
  const auto waker = share<Waker>();
  std::atomic<std::int64_t> served{0};
  std::int64_t tried = 0;  // to sleep; one that then sees a token may be woken too
  std::int64_t slept = 0;
  std::int64_t woken = 0;
  std::int64_t refused = 0;
  run_together(2, [&](int thread) {
    Dice dice(seed, static_cast<std::uint64_t>(thread));
    if (thread == 0) {
      for (std::int64_t round = 0; round < kRounds; ++round) {
        dice.delay();
        if (!pool.try_handoff(1, round)) served.fetch_add(1), ++refused;
        dice.delay();
        if (pool.needs_wake(1)) {
          waker->wake();
          ++woken;
        }
        while (served.load() <= round) std::this_thread::yield();
      }
      return;
    }
    Reactor reactor(waker);
    std::vector<Event> events;
    Tokens arrived;
    while (served.load() < kRounds) {
      dice.delay();
      ++tried;
      const bool sleeps = pool.begin_sleep(1);
      if (sleeps) ++slept;
      dice.delay();
      reactor.poll(sleeps ? -1 : 0, events);
      pool.end_sleep(1);
      pool.drain_local(1, arrived);
      served.fetch_add(static_cast<std::int64_t>(arrived.size()));
    }
  });
  EXPECT_EQ(0, refused);
  EXPECT_GT(slept, 0);
  EXPECT_GT(woken, 0);
  EXPECT_LE(woken, tried);
}

}  // namespace
}  // namespace flare::testing
