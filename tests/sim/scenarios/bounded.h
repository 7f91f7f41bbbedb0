// bounded.h: for tests: every schedule of a scenario within a bound, and how many there are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <ostream>
#include <string>

#include "scenarios/registry.h"
#include "support/number_from.h"
#include "support/production_calls.h"

namespace flare::sim {

// The number of schedules is part of the test: another one means that the product takes other steps, and its change
// says why. FLARE_SIM_PREEMPTIONS sets another bound, then no number is expected; with FLARE_SIM_SECONDS as the most
// that one scenario may take, not even that all were explored.
struct Bound {
  const char* scenario;
  int preemptions;
  std::uint64_t schedules;
  int faults = 0;
  int waiters = 1 << 30;   // picks of the kernel that are not its usual one
  int switches = 1 << 30;  // followers of a thread that cannot go on, other than the next one
};

inline void PrintTo(const Bound& bound, std::ostream* out) {
  *out << bound.scenario;
}

inline Exploration explore(Explorer& explorer, const Budget& budget, const ExplorerLimits& limits) {
  const std::clock_t start = std::clock();  // of this process alone: the machine may be busy with others
  Exploration all = explorer.enumerate(budget, limits);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf(
      "%-42s %d preemptions, %s%8llu schedules, %8llu of them left early, %u..%u steps, %u points, %.1f s of CPU, %.0f "
      "schedules/s\n",
      explorer.scenario().name.c_str(), budget.preemptions,
      all.complete ? "" : "NOT all: ", static_cast<unsigned long long>(all.schedules),
      static_cast<unsigned long long>(all.pruned), all.fewest_steps, all.most_steps, all.most_points, seconds,
      static_cast<double>(all.executed + all.repeated) / seconds);
  for (const Sighting& one : explorer.scenario().about) {
    std::printf("  %8llu times: %s\n", static_cast<unsigned long long>(*one.times), one.what);
  }
  return all;
}

inline void explore_within(const Bound& bound) {
  const std::optional<Scenario> scenario = find_scenario(bound.scenario);
  ASSERT_TRUE(scenario.has_value());
  Explorer explorer(*scenario);
  Budget budget;
  budget.preemptions =
      static_cast<int>(testing::number_from("FLARE_SIM_PREEMPTIONS", static_cast<std::uint64_t>(bound.preemptions)));
  budget.faults = bound.faults;
  budget.waiters = bound.waiters;
  budget.switches = bound.switches;
  ExplorerLimits limits;
  const std::uint64_t seconds = testing::number_from("FLARE_SIM_SECONDS", 0);
  if (seconds > 0) limits.most_seconds = static_cast<double>(seconds);
  const Exploration all = explore(explorer, budget, limits);
  EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
  EXPECT_TRUE(all.complete || seconds > 0);
  const long calls = testing::production_calls_of(bound.scenario);
  if (calls > 0) std::printf("  %8ld calls of the system at most in a production run\n", calls);
  if (budget.faults == 0) {  // a start that fails at its first call is short
    EXPECT_GE(all.fewest_steps, std::max(calls, 60L)) << "a schedule has fewer steps than a production run has calls";
  }
  // Fewer preemptions, as under a sanitizer, may not lead there.
  const bool all_seen = all.complete && budget.preemptions >= bound.preemptions;
  for (const Sighting& one : scenario->about) {
    EXPECT_TRUE(*one.times > 0 || !all_seen) << "never seen: " << one.what;
  }
  if (budget.preemptions == bound.preemptions && seconds == 0) {
    EXPECT_EQ(all.schedules, bound.schedules);
  }
}

inline std::string bound_name(const ::testing::TestParamInfo<Bound>& one) {
  std::string name = one.param.scenario;
  for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
}

}  // namespace flare::sim
