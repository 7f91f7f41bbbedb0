// Two workers, two connections: every schedule within a bound of preemptions, and how many there are.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "scenarios/registry.h"

namespace flare::sim {
namespace {

// The number of schedules is part of the test: another one means that the product takes other steps, and its change
// says why. FLARE_SIM_PREEMPTIONS raises the bound, then no number is expected.
struct Bound {
  const char* scenario;
  int preemptions;
  std::uint64_t schedules;
};

class SimLifecycle : public ::testing::TestWithParam<Bound> {};

// proves: INV-04, INV-06, INV-07, INV-11, INV-13, INV-14, INV-15, INV-20, INV-22
TEST_P(SimLifecycle, EveryScheduleWithinTheBound) {
  const std::optional<Scenario> scenario = find_scenario(GetParam().scenario);
  ASSERT_TRUE(scenario.has_value());
  Explorer explorer(*scenario);
  Budget budget;
  budget.preemptions = GetParam().preemptions;
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
    EXPECT_EQ(all.schedules, GetParam().schedules);
  }
}

constexpr Bound kBounds[] = {
    {"lifecycle.per-worker.shutdown", 2, 227'375},
    {"lifecycle.per-worker.double-shutdown", 1, 32'124},
    {"lifecycle.per-worker.stop-before-first-poll", 2, 11'772},
    {"lifecycle.per-worker.drain", 1, 97'946},
    {"lifecycle.per-worker.drain-zero", 2, 227'375},
    {"lifecycle.per-worker.drain-stuck", 2, 3'704},
    {"lifecycle.per-worker.crash", 2, 28'343},
    {"lifecycle.shared.shutdown", 2, 121'128},
    {"lifecycle.shared.double-shutdown", 1, 10'541},
    {"lifecycle.shared.stop-before-first-poll", 2, 15'213},
    {"lifecycle.shared.drain", 1, 36'810},
    {"lifecycle.shared.drain-zero", 2, 121'128},
    {"lifecycle.shared.drain-stuck", 2, 4'372},
    {"lifecycle.shared.crash", 2, 118'269},
};

INSTANTIATE_TEST_SUITE_P(Scenarios, SimLifecycle, ::testing::ValuesIn(kBounds), [](const auto& one) {
  std::string name = one.param.scenario;
  for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace flare::sim
