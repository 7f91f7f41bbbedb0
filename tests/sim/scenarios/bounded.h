// bounded.h: for tests: every schedule of a scenario within a bound, and how many there are.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "scenarios/registry.h"

namespace flare::sim {

// The number of schedules is part of the test: another one means that the product takes other steps, and its change
// says why. FLARE_SIM_PREEMPTIONS raises the bound, then no number is expected.
struct Bound {
  const char* scenario;
  int preemptions;
  std::uint64_t schedules;
  int waiters = 1 << 30;   // picks of the kernel that are not its usual one
  int switches = 1 << 30;  // followers of a thread that cannot go on, other than the next one
};

inline void explore_within(const Bound& bound) {
  const std::optional<Scenario> scenario = find_scenario(bound.scenario);
  ASSERT_TRUE(scenario.has_value());
  Explorer explorer(*scenario);
  Budget budget;
  budget.preemptions = bound.preemptions;
  budget.waiters = bound.waiters;
  budget.switches = bound.switches;
  const char* wanted = std::getenv("FLARE_SIM_PREEMPTIONS");
  if (wanted != nullptr) budget.preemptions = std::atoi(wanted);
  const auto start = std::chrono::steady_clock::now();
  const Exploration all = explorer.enumerate(budget);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%-42s %d preemptions, %8llu schedules, %8llu of them left early, %u..%u steps, %u points, %.1f s\n",
              scenario->name.c_str(), budget.preemptions, static_cast<unsigned long long>(all.schedules),
              static_cast<unsigned long long>(all.pruned), all.fewest_steps, all.most_steps, all.most_points, seconds);
  EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
  EXPECT_TRUE(all.complete);
  EXPECT_GE(all.fewest_steps, 60U);
  if (wanted == nullptr) {
    EXPECT_EQ(all.schedules, bound.schedules);
  }
}

inline std::string bound_name(const ::testing::TestParamInfo<Bound>& one) {
  std::string name = one.param.scenario;
  for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
}

}  // namespace flare::sim
