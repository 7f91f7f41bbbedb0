#include "engine/explorer.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/arena.h"
#include "engine/crash_trap.h"
#include "engine/sanitizers.h"

namespace flare::sim {

namespace {

void misused(const char* what) {
  if (Schedule::current() != nullptr) Schedule::current()->fail("memory", what);
}

// While a process never had a second thread, libstdc++ counts the holders of a std::shared_ptr with plain writes. To
// the thread sanitizer, that would be a race of model threads.
void have_had_a_thread() {
#ifdef FLARE_SIM_TSAN
  static const bool done = [] {
    std::thread([] {}).join();
    return true;
  }();
  static_cast<void>(done);
#endif
}

void count(Exploration& all, const Verdict& one) {
  ++all.executed;
  ++all.schedules;
  all.steps += one.steps;
  if (one.pruned) {
    ++all.pruned;
    return;
  }
  all.fewest_steps = all.fewest_steps == 0 ? one.steps : std::min(all.fewest_steps, one.steps);
  all.most_steps = std::max(all.most_steps, one.steps);
  all.most_points = std::max(all.most_points, one.points);
  all.most_threads = std::max(all.most_threads, one.threads);
}

}  // namespace

Verdict Explorer::execute(ChoiceSource& source, const ScheduleOptions& options) {
  trap_crashes();
  have_had_a_thread();
  arena::on_misuse = misused;
  settings() = scenario_.settings;
  active_mutant = scenario_.settings.mutant;
  if (scenario_.before) scenario_.before();
  Verdict verdict = schedule_.run(source, options, learned_, scenario_.body);
  if (!verdict.ok() || verdict.pruned) return verdict;
  const ArenaCounts memory = arena::counts();
  if (memory.allocations != memory.frees) {
    verdict.oracle = "leak";
    verdict.text = std::to_string(memory.allocations - memory.frees) + " allocations, " +
                   std::to_string(memory.live_bytes) + " bytes, were never freed";
  } else if (scenario_.after) {
    verdict.text = scenario_.after();
    if (!verdict.text.empty()) verdict.oracle = "at the end";
  }
  return verdict;
}

// One schedule more. False: it failed, or its repetition did.
bool Explorer::explore_one(ChoiceSource& source, const ExplorerLimits& limits, Exploration& all) {
  Verdict verdict = execute(source, scenario_.options);
  count(all, verdict);
  all.taught = verdict.learned_more;
  if (!verdict.ok()) {
    all.failure = std::move(verdict);
    return false;
  }
  if (verdict.pruned || limits.repeat_every == 0 || all.schedules % limits.repeat_every != 0) return true;
  ++all.repeated;
  const Verdict twice = replay(verdict.choices);
  if (twice.ok() && twice.hash == verdict.hash) return true;
  all.failure = std::move(verdict);
  all.failure.oracle = "nondeterministic";
  all.failure.text = "the same choices gave another schedule: " + twice.nondeterminism + twice.text;
  return false;
}

Exploration Explorer::run(ChoiceSource& source, ExplorerLimits limits) {
  Exploration all;
  while (all.schedules < limits.most_schedules) {
    all.complete = !source.begin_schedule();
    if (all.complete || !explore_one(source, limits, all)) break;
  }
  all.learned = learned_.size();
  return all;
}

// Random schedules show most of the scheduling points at once: each that only the enumeration meets starts it anew.
Verdict Explorer::learn() {
  Uniform source(1, 2000, 0.1, 0.0, 0.0);
  while (source.begin_schedule()) {
    Verdict verdict = execute(source, scenario_.options);
    if (!verdict.ok()) return verdict;
  }
  return {};
}

Exploration Explorer::enumerate(Budget budget, ExplorerLimits limits) {
  std::uint64_t executed = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto time_is_up = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > limits.most_seconds;
  };
  if (limits.learn_first) {
    Exploration all;
    all.failure = learn();
    if (!all.ok()) return all;
  }
  for (;;) {
    for (const Sighting& one : scenario_.about) *one.times = 0;  // of all schedules, those that only taught count not
    Enumeration source(budget, limits.remember_states);
    Exploration all;
    while (all.schedules < limits.most_schedules && (all.schedules % 1024 != 1023 || !time_is_up())) {
      all.complete = !source.begin_schedule();
      if (all.complete || !explore_one(source, limits, all) || all.taught) break;
    }
    executed += all.executed;
    if (all.ok() && all.taught) continue;
    all.executed = executed;
    all.states = source.states();
    all.learned = learned_.size();
    return all;
  }
}

Verdict Explorer::replay(const ChoiceString& choices, bool trace, bool strict) {
  Replay source(choices, strict);
  static_cast<void>(source.begin_schedule());
  ScheduleOptions options = scenario_.options;
  options.trace = trace;
  return execute(source, options);
}

}  // namespace flare::sim
