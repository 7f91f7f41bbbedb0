// litmus.h: a few threads, a few words, and the set of all outcomes that the model's memory can give.
//
// The enumeration is complete: every interleaving, every store that a load may see. So a test asserts the exact set:
// what the standard forbids is never found, and what it allows is found.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/arena.h"
#include "engine/atomic_word.h"
#include "engine/explorer.h"
#include "engine/model_sync.h"

namespace flare::sim {

inline constexpr auto kRelaxed = std::memory_order_relaxed;
inline constexpr auto kAcquire = std::memory_order_acquire;
inline constexpr auto kRelease = std::memory_order_release;
inline constexpr auto kAcqRel = std::memory_order_acq_rel;
inline constexpr auto kSeqCst = std::memory_order_seq_cst;

// What the threads of a litmus test share. The results are each written by one thread and read after the join.
struct Words {
  AtomicWord x{0};
  AtomicWord y{0};
  bool done = false;  // plain: for await, which orders nothing in the model's memory
  std::array<std::uint64_t, 6> r{};
};

inline std::uint64_t add(std::uint64_t before, std::uint64_t operand) {
  return before + operand;
}

// Waits for words.done without learning what came before it.
inline void await_done(Words& words) {
  Schedule::current()->block("done", [](void* w) { return static_cast<Words*>(w)->done; }, &words);
}

using Outcomes = std::set<std::string>;
using LitmusThread = std::function<void(Words&)>;

struct LitmusRun {
  Outcomes outcomes;
  Exploration exploration;
};

inline LitmusRun explore_litmus(const std::vector<LitmusThread>& threads, std::size_t results, bool remember_states,
                                int calm = 0) {
  LitmusRun run;
  Scenario scenario;
  scenario.name = "litmus";
  scenario.options.weak_memory = true;
  scenario.options.every_point = true;
  scenario.body = [&] {
    const auto words = std::make_unique<Words>();
    std::vector<int> started;
    for (const LitmusThread& thread : threads) {
      started.push_back(start_thread([&thread, &words] { thread(*words); }));
    }
    for (const int thread : started) join_thread(thread);
    std::string outcome;
    for (std::size_t i = 0; i < results; ++i) outcome += (i == 0 ? "" : " ") + std::to_string(words->r[i]);
    const HostScope host;
    run.outcomes.insert(std::string(outcome.data(), outcome.size()));
  };
  Budget budget;
  budget.preemptions = 1 << 20;
  budget.stale = 1 << 30;
  budget.calm = calm;
  ExplorerLimits limits;
  limits.learn_first = false;
  limits.remember_states = remember_states;
  Explorer explorer(std::move(scenario));
  run.exploration = explorer.enumerate(budget, limits);
  EXPECT_TRUE(run.exploration.ok()) << explorer.report(run.exploration.failure);
  EXPECT_TRUE(run.exploration.complete);
  return run;
}

// The outcomes, the same with and without leaving states that were explored.
inline Outcomes outcomes_of(const std::vector<LitmusThread>& threads, std::size_t results, int calm = 0) {
  LitmusRun all = explore_litmus(threads, results, false, calm);
  const LitmusRun pruned = explore_litmus(threads, results, true, calm);
  EXPECT_EQ(all.outcomes, pruned.outcomes) << "leaving known states loses outcomes";
  EXPECT_LE(pruned.exploration.schedules, all.exploration.schedules);
  return std::move(all.outcomes);
}

}  // namespace flare::sim
