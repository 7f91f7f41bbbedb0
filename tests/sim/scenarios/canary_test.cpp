// Canaries: each engine and each oracle has something to find, and must find it on every run.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/crash_trap.h"
#include "engine/explorer.h"
#include "engine/model_sync.h"
#include "flare/base/sync.h"
#include "flare/kernel/system_kernel.h"
#include "kernel/client.h"
#include "kernel/world.h"

namespace flare::sim {
namespace {

Scenario scenario(std::function<void()> body) {
  Scenario one;
  one.name = "canary";
  one.body = std::move(body);
  one.before = [] { World::current().reset({}); };
  return one;
}

// Two threads read, then write: a preemption in between loses one of the two.
Scenario lost_update() {
  return scenario([] {
    Atomic<int> count{0};
    const auto add = [&count] { count.store(count.load() + 1); };
    {
      Actor other("other", add);
      add();
    }
    Schedule::current()->require(count.load() == 2, "canary", "an update was lost");
  });
}

Verdict failure_of(Scenario one, int preemptions) {
  Explorer explorer(std::move(one));
  Budget budget;
  budget.preemptions = preemptions;
  ExplorerLimits limits;
  limits.most_schedules = 1000;
  return explorer.enumerate(budget, limits).failure;
}
std::string oracle_of(Scenario one) {
  return failure_of(std::move(one), 1).oracle;
}

TEST(SimCanary, EnumerationFindsALostUpdate) {
  EXPECT_EQ(oracle_of(lost_update()), "canary");
}

TEST(SimCanary, UniformFindsALostUpdate) {
  Explorer explorer(lost_update());
  Uniform source(1, 1000, 0.1, 0.0, 0.0);
  EXPECT_EQ(explorer.run(source).failure.oracle, "canary");
}

TEST(SimCanary, PctFindsALostUpdate) {
  Explorer explorer(lost_update());
  Pct source(1, 2, 1000);
  EXPECT_EQ(explorer.run(source).failure.oracle, "canary");
}

TEST(SimCanary, BytesFindALostUpdate) {
  Explorer explorer(lost_update());
  bool found = false;
  for (unsigned value = 0; value < 256 && !found; ++value) {
    unsigned char data[8];
    for (unsigned i = 0; i < 8; ++i) data[i] = static_cast<unsigned char>(value >> i & 1U);
    Bytes source(data, sizeof data);
    const Exploration all = explorer.run(source);
    found = all.failure.oracle == "canary";
  }
  EXPECT_TRUE(found);
}

TEST(SimCanary, ReplayFindsALostUpdateAndShrinksIt) {
  Explorer explorer(lost_update());
  Uniform source(1, 1000, 0.5, 0.0, 0.0);
  const Verdict failure = explorer.run(source).failure;
  Explorer fresh(lost_update());
  EXPECT_EQ(fresh.replay(failure.choices).oracle, "canary");
  EXPECT_EQ(preemptions_of(explorer.shrink(failure)), 1);
}

TEST(SimCanary, AReplayOfSomethingElseIsNondeterminism) {
  Explorer explorer(lost_update());
  Uniform source(1, 1000, 0.5, 0.0, 0.0);
  ChoiceString choices = explorer.run(source).failure.choices;
  ++choices.front().options;
  EXPECT_NE(explorer.replay(choices).nondeterminism, "");
}

TEST(SimCanary, Deadlock) {
  EXPECT_EQ(oracle_of(scenario([] {
              Mutex first;
              Mutex second;
              Actor other("other", [&] {
                const MutexLock a(second);
                const MutexLock b(first);
              });
              const MutexLock a(first);
              const MutexLock b(second);
            })),
            "deadlock");
}

TEST(SimCanary, Livelock) {
  EXPECT_EQ(oracle_of(scenario([] {
              const Atomic<bool> never{false};
              while (!never.load()) yield_thread();
            })),
            "livelock");
}

TEST(SimCanary, Leak) {
  EXPECT_EQ(oracle_of(scenario([] {
              void* volatile kept = ::operator new(8);
              static_cast<void>(kept);
            })),
            "leak");
}

TEST(SimCanary, FreedTwice) {
  if (!survives_misused_memory()) GTEST_SKIP() << "a sanitizer ends the process at the defect";
  EXPECT_EQ(oracle_of(scenario([] {
              auto* piece = new std::string;
              void* volatile again = piece;
              delete piece;
              ::operator delete(again);
            })),
            "memory");
}

TEST(SimCanary, UsedAfterItWasFreed) {
  if (!survives_misused_memory()) GTEST_SKIP() << "a sanitizer ends the process at the defect";
  EXPECT_EQ(oracle_of(scenario([] {
              auto* word = new Atomic<int>(1);
              Atomic<int>* volatile again = word;
              delete word;
              again->store(2);
            })),
            "memory");
}

// The word is alive when its user comes to it, and is freed while that one is held up before the access itself.
TEST(SimCanary, FreedWhileItsUserStoodBeforeIt) {
  if (!survives_misused_memory()) GTEST_SKIP() << "a sanitizer ends the process at the defect";
  const Verdict found = failure_of(scenario([] {
                                     Atomic<int> begun{0};
                                     auto* word = new Atomic<int>(1);
                                     Actor other("other", [&begun, word] {
                                       begun.store(1);
                                       word->store(2);
                                     });
                                     if (begun.load() == 0) other.join();
                                     static_cast<void>(word->load());
                                     delete word;
                                   }),
                                   2);
  EXPECT_EQ(found.oracle, "memory");
  EXPECT_NE(found.text.find("store of what was freed"), std::string::npos) << found.text;
}

TEST(SimCanary, AccessToNoMemory) {
  if (!survives_misused_memory()) GTEST_SKIP() << "a sanitizer ends the process at the defect";
  EXPECT_EQ(oracle_of(scenario([] {
              volatile int* volatile nowhere = nullptr;
              *nowhere = 1;
            })),
            "memory");
}

TEST(SimCanary, ExceptionThatLeavesItsThread) {
  if (!survives_misused_memory()) GTEST_SKIP() << "the exception of an abandoned schedule is a leak to a sanitizer";
  EXPECT_EQ(oracle_of(scenario([] { Actor other("other", [] { throw std::runtime_error("a canary"); }); })),
            "terminate");
}

TEST(SimCanary, Race) {
  EXPECT_EQ(oracle_of(scenario([] {
              Checked<int> plain{0};
              Actor other("other", [&plain] { plain = 1; });
              plain = 2;
            })),
            "race");
}

TEST(SimCanary, MutexThatAnotherHolds) {
  EXPECT_EQ(oracle_of(scenario([] {
              ModelMutex mutex;
              mutex.unlock();
            })),
            "mutex");
}

TEST(SimCanary, LedgerOfNumbers) {
  EXPECT_EQ(oracle_of(scenario([] {
              const int fd = SystemKernel::wake_open().value();
              static_cast<void>(SystemKernel::close(fd));
              static_cast<void>(SystemKernel::wake_signal(fd));
            })),
            "ledger");
  // Another thread got the number meanwhile.
  EXPECT_EQ(oracle_of(scenario([] {
              const int fd = SystemKernel::wake_open().value();
              Actor other("other", [fd] {
                static_cast<void>(SystemKernel::wake_signal(fd));
                static_cast<void>(SystemKernel::close(fd));
                static_cast<void>(SystemKernel::wake_open());
              });
              static_cast<void>(SystemKernel::wake_signal(fd));
            })),
            "ledger");
}

TEST(SimCanary, AssertionOfTheProduct) {
  EXPECT_EQ(oracle_of(scenario([] { FLARE_ASSERT(Schedule::current() == nullptr, "a canary"); })), "assertion");
}

TEST(SimCanary, EndOfTheScenario) {
  Scenario one = scenario([] {});
  one.after = [] { return std::string("a canary"); };
  EXPECT_EQ(oracle_of(one), "at the end");
}

}  // namespace
}  // namespace flare::sim
