// The thread sanitizer judges model threads as it judges real ones: what nothing orders is a race in every schedule,
// also where one of the two happens to come first; what the model's objects order is none.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "engine/explorer.h"
#include "engine/sanitizers.h"
#include "flare/base/sync.h"
#include "flare/kernel/system_kernel.h"
#include "kernel/client.h"
#include "kernel/world.h"

namespace flare::sim {
namespace {

#ifdef FLARE_SIM_TSAN
constexpr bool kJudged = true;
#else
constexpr bool kJudged = false;
#endif

// Every schedule with one preemption at most. The sanitizer ends the process at the first race.
void explore(std::function<void()> body) {
  Scenario one;
  one.name = "canary";
  one.body = std::move(body);
  one.before = [] { World::current().reset({}); };
  Explorer explorer(std::move(one));
  Budget budget;
  budget.preemptions = 1;
  const Exploration all = explorer.enumerate(budget, {.most_schedules = 1000, .learn_first = false});
  EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
}

void require_race(const std::function<void()>& body) {
  if (!kJudged) GTEST_SKIP() << "only the thread sanitizer sees it";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(explore(body), "data race");
}

TEST(SimTsanCanary, TwoWritesThatNothingOrders) {
  require_race([] {
    int plain = 0;
    Actor other("other", [&plain] { plain = 1; });
    plain = 2;
  });
}

// The other thread's write is known by a flag that it stores with order.
void write_behind_flag(std::memory_order order) {
  int plain = 0;
  Atomic<bool> written{false};
  Actor other("other", [&] {
    plain = 1;
    written.store(true, order);
  });
  while (!written.load(std::memory_order_acquire)) yield_thread();
  plain = 2;
}

TEST(SimTsanCanary, AWriteBehindARelaxedFlag) {
  require_race([] { write_behind_flag(std::memory_order_relaxed); });
}

// The other one comes first in this schedule, but nothing says so.
TEST(SimTsanCanary, AFreeThatNothingOrders) {
  require_race([] {
    auto* text = new std::string("a");
    Actor other("other", [text] { text->front() = 'b'; });
    yield_thread();
    delete text;
  });
}

TEST(SimTsanCanary, NoRaceWhereTheModelOrders) {
  explore([] {
    int plain = 1;  // before the start
    Mutex mutex;
    Actor other("other", [&] {
      const MutexLock lock(mutex);
      ++plain;
    });
    {
      const MutexLock lock(mutex);
      ++plain;
    }
    other.join();
    ++plain;
  });
  explore([] { write_behind_flag(std::memory_order_release); });
}

TEST(SimTsanCanary, NoRaceBehindAWakeOrTheLastHolder) {
  explore([] {
    int plain = 0;
    const int fd = SystemKernel::wake_open().value();
    Actor other("other", [&plain, fd] {
      plain = 1;
      static_cast<void>(SystemKernel::wake_signal(fd));
    });
    static_cast<void>(SystemKernel::wait_readable(fd, -1));
    plain = 2;
    other.join();
    static_cast<void>(SystemKernel::close(fd));
  });
  explore([] {
    Shared<std::string> mine(new std::string("a"));
    Actor other("other", [theirs = mine]() mutable {
      const std::string copy = *theirs;
      theirs.reset();
    });
    mine.reset();
  });
}

}  // namespace
}  // namespace flare::sim
