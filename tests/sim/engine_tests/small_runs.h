// small_runs.h: what the tests of the engine share: schedules run one by one, and threads that begin together.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/arena.h"
#include "engine/atomic_word.h"
#include "engine/explorer.h"
#include "engine/model_sync.h"

namespace flare::sim {

// Runs every schedule that the source gives; each operation on shared objects is a scheduling point.
inline std::vector<Verdict> run_all(
    ChoiceSource& source, const std::function<void()>& body, const std::function<void()>& before = [] {}) {
  ScheduleOptions options;
  options.every_point = true;
  options.max_steps = 2000;
  LearnedObjects learned;
  Schedule schedule;
  std::vector<Verdict> all;
  while (source.begin_schedule()) {
    before();
    all.push_back(schedule.run(source, options, learned, body));
  }
  return all;
}

inline Verdict run_calmly(const std::function<void()>& body) {
  Replay calm({});
  return run_all(calm, body).front();
}

inline Budget preemptions(int most) {
  Budget budget;
  budget.preemptions = most;
  return budget;
}

// Threads that all wait until the last of them was started, then run; joined here.
inline void run_together(const std::vector<std::function<void()>>& bodies) {
  bool go = false;
  std::vector<int> started;
  for (const std::function<void()>& body : bodies) {
    started.push_back(start_thread([&body, &go] {
      Schedule::current()->block("go", [](void* flag) { return *static_cast<bool*>(flag); }, &go);
      body();
    }));
  }
  go = true;
  for (const int thread : started) join_thread(thread);
}

inline void tick(AtomicWord& word) {
  read_modify_write(
      word, [](std::uint64_t before, std::uint64_t by) { return before + by; }, 1, std::memory_order_relaxed);
}

}  // namespace flare::sim
