// Threads of the model: yields, virtual time, exceptions across switches, conditions, starts that fail.
#include <cerrno>
#include <exception>
#include <set>
#include <stdexcept>

#include "engine_tests/small_runs.h"

namespace flare::sim {
namespace {

// --- yields

// Two that spin until a third has done its part.
void spin_for_a_third() {
  const auto word = std::make_unique<AtomicWord>(0);
  const auto spin = [&word] {
    while (load(*word, std::memory_order_acquire) == 0) yield_running_thread();
  };
  run_together({spin, spin, [&word] {
                  for (int i = 0; i < 3; ++i) yield_running_thread();
                  store(*word, 1, std::memory_order_release);
                }});
}

TEST(SimThreads, ASpinThatYieldsEndsUnderEverySupplier) {
  EXPECT_TRUE(run_calmly(spin_for_a_third).ok());
  Uniform uniform(1, 300, 0.3, 0.0, 0.0);
  for (const Verdict& one : run_all(uniform, spin_for_a_third)) ASSERT_TRUE(one.ok()) << one.oracle;
  for (const int depth : {1, 2, 3}) {
    Pct pct(1, depth, 300);
    for (const Verdict& one : run_all(pct, spin_for_a_third))
      ASSERT_TRUE(one.ok()) << one.oracle << " of depth " << depth;
  }
}

TEST(SimThreads, AYieldAloneGoesOn) {
  EXPECT_TRUE(run_calmly([] {
                for (int i = 0; i < 10; ++i) yield_running_thread();
              }).ok());
}

// --- virtual time

bool never(void* /*unused*/) {
  return false;
}

TEST(SimThreads, TimeMovesOnlyWhenNobodyCanRunAndExactlyToTheNextDeadline) {
  const Verdict verdict = run_calmly([] {
    Schedule& schedule = *Schedule::current();
    const SimTime start = schedule.now();
    const auto word = std::make_unique<AtomicWord>(0);
    std::string order;
    order.reserve(8);
    const auto sleep_for = [&](SimTime duration, char name) {
      return [&, duration, name] {
        const bool ready = Schedule::current()->block("time", never, nullptr, start + duration);
        Schedule::current()->require(!ready, "time", "a wait that nothing ends is ready");
        Schedule::current()->require(Schedule::current()->now() == start + duration, "time", "not at its deadline");
        order += name;
      };
    };
    run_together({sleep_for(300, 'c'), sleep_for(100, 'a'), sleep_for(200, 'b'), [&] {
                    for (int i = 0; i < 50; ++i) {
                      tick(*word);
                      Schedule::current()->require(Schedule::current()->now() == start, "time",
                                                   "time went on while a thread could run");
                    }
                  }});
    Schedule::current()->require(order == "abc", "time", "the sleepers woke in another order");
  });
  EXPECT_TRUE(verdict.ok()) << verdict.text;
}

TEST(SimThreads, ADeadlineThatHasPassedDoesNotWait) {
  EXPECT_TRUE(run_calmly([] {
                Schedule& schedule = *Schedule::current();
                schedule.require(!schedule.block("time", never, nullptr, schedule.now()), "time", "ready");
              }).ok());
}

// --- exceptions

// Inside its catch block, and inside the destructor of a frame that is unwound, a thread lets others run.
void catch_with_switches(int number, AtomicWord& word) {
  struct Unwound {
    AtomicWord& word;
    ~Unwound() {
      const int before = std::uncaught_exceptions();
      tick(word);
      Schedule::current()->require(std::uncaught_exceptions() == before && before == 1, "exceptions",
                                   "another thread's exception is counted here");
    }
  };
  Schedule& schedule = *Schedule::current();
  try {
    const Unwound unwound{word};
    throw std::runtime_error("outer " + std::to_string(number));
  } catch (const std::exception& outer) {
    tick(word);
    try {
      throw std::logic_error("inner " + std::to_string(number));
    } catch (const std::exception& inner) {
      tick(word);
      schedule.require(inner.what() == "inner " + std::to_string(number), "exceptions", "another's inner exception");
    }
    tick(word);
    schedule.require(std::uncaught_exceptions() == 0, "exceptions", "a caught one counts");
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::exception& again) {
      tick(word);
      schedule.require(again.what() == "outer " + std::to_string(number), "exceptions", "another's exception");
    }
    schedule.require(outer.what() == "outer " + std::to_string(number), "exceptions", "another's outer exception");
  }
  schedule.require(std::current_exception() == nullptr, "exceptions", "an exception is left");
}

TEST(SimThreads, EachThreadHasItsOwnExceptions) {
  Enumeration source(preemptions(2), false);
  const std::vector<Verdict> all = run_all(source, [] {
    const auto word = std::make_unique<AtomicWord>(0);
    run_together({[&word] { catch_with_switches(1, *word); }, [&word] { catch_with_switches(2, *word); }});
  });
  EXPECT_GE(all.size(), 50U);
  for (const Verdict& one : all) ASSERT_TRUE(one.ok()) << one.oracle << ": " << one.text;
  EXPECT_EQ(std::current_exception(), nullptr);
}

// --- conditions

// A token goes from one thread to another. careless: the waiter does not look again after it woke.
void pass_a_token(bool careless) {
  ModelMutex mutex;
  ModelCondition condition;
  bool there = false;
  run_together({[&] {
                  mutex.lock();
                  if (careless) {
                    if (!there) condition.wait(mutex);
                  } else {
                    while (!there) condition.wait(mutex);
                  }
                  Schedule::current()->require(there, "condition", "woken without the token");
                  mutex.unlock();
                },
                [&] {
                  mutex.lock();
                  there = true;
                  mutex.unlock();
                  condition.notify_all();
                }});
}

std::set<std::string> oracles_of(Budget budget, const std::function<void()>& body) {
  std::set<std::string> found;
  for (const bool remember : {false, true}) {
    Enumeration source(budget, remember);
    for (const Verdict& one : run_all(source, body)) {
      if (!one.ok()) found.insert(one.oracle);
    }
  }
  return found;
}

TEST(SimThreads, AConditionWakesItsWaiter) {
  Budget budget = preemptions(3);
  EXPECT_TRUE(oracles_of(budget, [] { pass_a_token(false); }).empty());
  EXPECT_TRUE(oracles_of(budget, [] { pass_a_token(true); }).empty());
}

TEST(SimThreads, AConditionMayWakeWithoutANotification) {
  Budget budget = preemptions(3);
  budget.calm = 1;
  EXPECT_TRUE(oracles_of(budget, [] { pass_a_token(false); }).empty());
  EXPECT_EQ(oracles_of(budget, [] { pass_a_token(true); }), (std::set<std::string>{"condition"}));
}

TEST(SimThreads, ANotificationThatNobodyWaitsForIsLost) {
  const auto body = [] {
    ModelMutex mutex;
    ModelCondition condition;
    run_together({[&] {
                    mutex.lock();
                    condition.wait(mutex);
                    mutex.unlock();
                  },
                  [&] { condition.notify_all(); }});
  };
  EXPECT_EQ(oracles_of(preemptions(1), body), (std::set<std::string>{"deadlock"}));
}

// --- starts

TEST(SimThreads, AStartMayFailAndLeavesNothing) {
  Scenario scenario;
  scenario.name = "start";
  scenario.settings.faults = true;
  std::set<std::string> seen;
  scenario.body = [&seen] {
    std::string what;
    for (int i = 0; i < 2; ++i) {
      const int thread = start_thread([held = std::make_shared<int>(7)] { static_cast<void>(*held); });
      what += thread < 0 ? (thread == -EAGAIN ? 'f' : '?') : 's';
      if (thread >= 0) join_thread(thread);
    }
    const HostScope host;
    seen.insert(std::string(what.data(), what.size()));
  };
  Explorer explorer(std::move(scenario));
  Budget budget = preemptions(1);
  budget.faults = 2;
  ExplorerLimits limits;
  limits.learn_first = false;
  const Exploration all = explorer.enumerate(budget, limits);
  EXPECT_TRUE(all.ok()) << all.failure.oracle << all.failure.text;  // an allocation that is left would be a leak
  EXPECT_EQ(seen, (std::set<std::string>{"ss", "sf", "fs", "ff"}));
}

TEST(SimThreads, TheEnvironmentIsTheScenarios) {
  Scenario scenario;
  scenario.name = "environment";
  scenario.settings.environment = {{"NAME", "value"}};
  scenario.body = [] {
    Schedule::current()->require(read_variable("NAME") == "value", "environment", "not found");
    Schedule::current()->require(!read_variable("PATH"), "environment", "the host's");
  };
  Explorer explorer(std::move(scenario));
  EXPECT_TRUE(explorer.enumerate({}).ok());
}

TEST(SimThreads, AFailedAllocationIsTheOneThatWasAskedFor) {
  for (std::uint64_t nth = 1; nth <= 3; ++nth) {
    const Verdict verdict = run_calmly([nth] {
      const ProductScope product;
      arena::fail_at(nth);
      std::uint64_t reached = 0;
      try {
        for (; reached < 3; ++reached) ::operator delete(::operator new(8));
      } catch (const std::bad_alloc&) {
      }
      Schedule::current()->require(reached == nth - 1 && arena::was_failed(), "memory", "another allocation failed");
    });
    EXPECT_TRUE(verdict.ok()) << verdict.text;
  }
}

}  // namespace
}  // namespace flare::sim
