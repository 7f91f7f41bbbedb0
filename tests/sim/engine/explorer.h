// explorer.h: runs the schedules of a scenario until one fails or the supplier has no more.
// Threads:    one real thread.
// Errors:     a failure is a value; the caller (a test, on the host) asserts on it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/schedule.h"
#include "engine/settings.h"
#include "engine/sources.h"

namespace flare::sim {

// What a race may lead to: not every schedule shows it, but one of an exploration must. Copies share the count.
struct Sighting {
  const char* what;
  std::shared_ptr<std::uint64_t> times = std::make_shared<std::uint64_t>(0);
};

struct Scenario {
  std::string name;
  std::function<void()> body;               // thread 0, the control thread
  std::function<void()> before = {};        // host: resets what body shares with the host
  std::function<std::string()> after = {};  // host: what is wrong at the end of a schedule; empty: nothing
  Settings settings = {};
  ScheduleOptions options = {};
  std::vector<Sighting> about = {};  // each must have been seen when all schedules were explored
};

struct Exploration {
  std::uint64_t schedules = 0;  // of the last enumeration, or random ones
  std::uint64_t executed = 0;   // with those that taught scheduling points
  std::uint64_t steps = 0;
  std::uint32_t fewest_steps = 0;
  std::uint32_t most_steps = 0;
  std::uint32_t most_points = 0;
  int most_threads = 0;
  int learned = 0;
  std::uint64_t pruned = 0;  // of the schedules, left at a state from which all was explored
  std::uint64_t states = 0;
  bool taught = false;         // the last schedule showed a new scheduling point
  bool complete = false;       // the supplier had no more
  std::uint64_t repeated = 0;  // executed twice, with equal hashes
  Verdict failure;             // ok() when nothing was found
  bool ok() const { return failure.ok(); }
};

struct ExplorerLimits {
  std::uint64_t most_schedules = UINT64_MAX;
  double most_seconds = 1e9;        // then it stops, and says that it was not complete
  std::uint32_t repeat_every = 20;  // one schedule in so many is executed twice: 5 %
  bool learn_first = true;          // enumerate: by a few random schedules
  bool remember_states = true;      // enumerate: leave what leads to a state that was explored
};

class Explorer {
 public:
  explicit Explorer(Scenario scenario) : scenario_(std::move(scenario)) {}

  // Every schedule within the budget. Starts anew when a schedule showed a new scheduling point.
  Exploration enumerate(Budget budget, ExplorerLimits limits = {});
  Exploration run(ChoiceSource& source, ExplorerLimits limits = {});
  Verdict replay(const ChoiceString& choices, bool trace = false, bool strict = true);
  // The smallest string found that fails by the same oracle.
  ChoiceString shrink(const Verdict& failure);
  // Everything a person needs: oracle, strings, trace, how to replay.
  std::string report(const Verdict& failure);

  static std::string trace_text(const Verdict& traced);

  const Scenario& scenario() const { return scenario_; }

 private:
  Verdict execute(ChoiceSource& source, const ScheduleOptions& options);
  Verdict learn();
  bool explore_one(ChoiceSource& source, const ExplorerLimits& limits, Exploration& all);
  ChoiceString shrink_by_parts(const Verdict& failure, ChoiceString best);
  std::optional<ChoiceString> with_fewer_preemptions(const Verdict& failure, const ChoiceString& choices);

  Scenario scenario_;
  LearnedObjects learned_;
  Schedule schedule_;
};

}  // namespace flare::sim
