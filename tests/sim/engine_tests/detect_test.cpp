// What makes a schedule fail: each oracle of the engine sees its fault, and does not see it where there is none.
#include "engine_tests/small_runs.h"

namespace flare::sim {
namespace {

Verdict explore(std::function<void()> body, int most_preemptions = 1) {
  Scenario scenario;
  scenario.name = "fault";
  scenario.body = std::move(body);
  scenario.options.every_point = true;
  scenario.options.max_steps = 5000;
  Explorer explorer(std::move(scenario));
  ExplorerLimits limits;
  limits.learn_first = false;
  Exploration all = explorer.enumerate(preemptions(most_preemptions), limits);
  EXPECT_TRUE(all.complete || !all.ok());
  return std::move(all.failure);
}

// Two threads take two locks, in one order or in opposite ones.
void take_two_locks(bool opposite) {
  const auto first = std::make_unique<ModelMutex>();
  const auto second = std::make_unique<ModelMutex>();
  const auto take = [](ModelMutex& a, ModelMutex& b) {
    a.lock();
    b.lock();
    b.unlock();
    a.unlock();
  };
  run_together({[&] { take(*first, *second); }, [&] { opposite ? take(*second, *first) : take(*first, *second); }});
}

TEST(SimOracle, ADeadlockOfTwoLocks) {
  const Verdict found = explore([] { take_two_locks(true); });
  EXPECT_EQ(found.oracle, "deadlock");
  EXPECT_NE(found.text.find("waits for a mutex"), std::string::npos) << found.text;
  EXPECT_TRUE(explore([] { take_two_locks(false); }, 3).ok());
  EXPECT_TRUE(explore([] { take_two_locks(true); }, 0).ok());  // one after the other it works
}

TEST(SimOracle, AWaitThatNobodyEnds) {
  const Verdict found = explore([] {
    ModelMutex mutex;
    ModelCondition condition;
    mutex.lock();
    condition.wait(mutex);
    mutex.unlock();
  });
  EXPECT_EQ(found.oracle, "deadlock");
}

TEST(SimOracle, ALockThatItsThreadHolds) {
  EXPECT_EQ(explore([] {
              ModelMutex mutex;
              mutex.lock();
              mutex.lock();
            }).oracle,
            "deadlock");
}

TEST(SimOracle, AnUnlockByAnotherThread) {
  EXPECT_EQ(explore([] {
              ModelMutex mutex;
              mutex.lock();
              run_together({[&mutex] { mutex.unlock(); }});
            }).oracle,
            "mutex");
  EXPECT_EQ(explore([] { ModelMutex().unlock(); }).oracle, "mutex");
}

TEST(SimOracle, AScheduleThatDoesNotEnd) {
  const Verdict found = explore([] {
    const auto word = std::make_unique<AtomicWord>(0);
    while (load(*word, std::memory_order_relaxed) == 0) yield_running_thread();
  });
  EXPECT_EQ(found.oracle, "livelock");
}

// An allocation that the compiler cannot leave out.
void* hold(void* piece) {
  void* volatile held = piece;
  return held;
}

TEST(SimOracle, ALeak) {
  const Verdict found = explore([] { hold(::operator new(100)); });
  EXPECT_EQ(found.oracle, "leak");
  EXPECT_NE(found.text.find("1 allocations"), std::string::npos) << found.text;
  EXPECT_TRUE(explore([] { ::operator delete(hold(::operator new(100))); }).ok());
}

TEST(SimOracle, ADoubleFree) {
  const Verdict found = explore([] {
    void* volatile piece = hold(::operator new(40));
    ::operator delete(piece);
    ::operator delete(piece);
  });
  EXPECT_EQ(found.oracle, "memory");
  EXPECT_NE(found.text.find("freed twice"), std::string::npos) << found.text;
}

TEST(SimOracle, WhatIsWrongAtTheEnd) {
  Scenario scenario;
  scenario.name = "end";
  scenario.body = [] {};
  scenario.after = [] { return std::string("not all is back"); };
  Explorer explorer(std::move(scenario));
  const Exploration all = explorer.enumerate({});
  EXPECT_EQ(all.failure.oracle, "at the end");
  EXPECT_EQ(all.failure.text, "not all is back");
}

// --- plain fields

struct Field {
  RaceWatch watch;
  AtomicWord flag{0};
  ModelMutex mutex;
};

// One thread writes the field and says so, the other looks and then uses the field.
Verdict hand_over(std::memory_order publish, std::memory_order observe, bool second_writes) {
  return explore([=] {
    const auto field = std::make_unique<Field>();
    run_together({[&field, publish] {
                    field->watch.write();
                    store(field->flag, 1, publish);
                  },
                  [&field, observe, second_writes] {
                    if (load(field->flag, observe) == 0) return;
                    second_writes ? field->watch.write() : field->watch.read();
                  }});
  });
}

TEST(SimOracle, ARaceOnAPlainField) {
  for (const bool second_writes : {false, true}) {
    EXPECT_EQ(hand_over(std::memory_order_relaxed, std::memory_order_acquire, second_writes).oracle, "race");
    EXPECT_EQ(hand_over(std::memory_order_release, std::memory_order_relaxed, second_writes).oracle, "race");
    EXPECT_TRUE(hand_over(std::memory_order_release, std::memory_order_acquire, second_writes).ok());
  }
}

TEST(SimOracle, ARaceThatNoScheduleOfTheTwoShowsByItsValues) {
  // No preemption is needed: the clocks say that nothing orders the two.
  const Verdict found = explore(
      [] {
        const auto field = std::make_unique<Field>();
        run_together({[&field] { field->watch.write(); }, [&field] { field->watch.read(); }});
      },
      0);
  EXPECT_EQ(found.oracle, "race");
}

TEST(SimOracle, AWriteBehindAReadThatNothingOrders) {
  // The read comes first in every schedule, but by nothing that orders memory.
  const Verdict found = explore([] {
    const auto field = std::make_unique<Field>();
    bool was_read = false;
    run_together({[&] {
                    field->watch.read();
                    was_read = true;
                  },
                  [&] {
                    Schedule::current()->block("read", [](void* flag) { return *static_cast<bool*>(flag); }, &was_read);
                    field->watch.write();
                  }});
  });
  EXPECT_EQ(found.oracle, "race");
}

TEST(SimOracle, ALockedFieldHasNoRace) {
  EXPECT_TRUE(explore(
                  [] {
                    const auto field = std::make_unique<Field>();
                    const auto use = [&field] {
                      field->mutex.lock();
                      field->watch.read();
                      field->watch.write();
                      field->mutex.unlock();
                    };
                    run_together({use, use, use});
                  },
                  2)
                  .ok());
}

}  // namespace
}  // namespace flare::sim
