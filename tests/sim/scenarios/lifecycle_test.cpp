// Two workers, two connections: every schedule within a bound of preemptions, and how many there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "scenarios/registry.h"
#include "support/number_from.h"
#include "support/production_calls.h"

namespace flare::sim {
namespace {

using testing::number_from;

// The number of schedules is part of the test: another one means that the product takes other steps, and its change
// says why. FLARE_SIM_PREEMPTIONS raises the bound, then no number is expected; with FLARE_SIM_SECONDS as the most that
// one scenario may take, not even that all were explored.
struct Bound {
  const char* scenario;
  int preemptions;
  std::uint64_t schedules;
  int faults = 0;
};

Exploration explore(Explorer& explorer, const Budget& budget, const ExplorerLimits& limits) {
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

class SimLifecycle : public ::testing::TestWithParam<Bound> {};

// proves: INV-04, INV-06, INV-07, INV-11, INV-13, INV-14, INV-15, INV-20, INV-22
TEST_P(SimLifecycle, EveryScheduleWithinTheBound) {
  const std::optional<Scenario> scenario = find_scenario(GetParam().scenario);
  ASSERT_TRUE(scenario.has_value());
  Explorer explorer(*scenario);
  Budget budget;
  budget.preemptions =
      static_cast<int>(number_from("FLARE_SIM_PREEMPTIONS", static_cast<std::uint64_t>(GetParam().preemptions)));
  budget.faults = GetParam().faults;
  ExplorerLimits limits;
  const std::uint64_t seconds = number_from("FLARE_SIM_SECONDS", 0);
  if (seconds > 0) limits.most_seconds = static_cast<double>(seconds);
  const Exploration all = explore(explorer, budget, limits);
  EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
  EXPECT_TRUE(all.complete || seconds > 0);
  const long calls = testing::production_calls_of(GetParam().scenario);
  if (calls > 0) std::printf("  %8ld calls of the system at most in a production run\n", calls);
  if (budget.faults == 0) {  // a start that fails at its first call is short
    EXPECT_GE(all.fewest_steps, std::max(calls, 60L)) << "a schedule has fewer steps than a production run has calls";
  }
  for (const Sighting& one : scenario->about) {
    EXPECT_TRUE(*one.times > 0 || !all.complete) << "never seen: " << one.what;
  }
  if (budget.preemptions == GetParam().preemptions && seconds == 0) {
    EXPECT_EQ(all.schedules, GetParam().schedules);
  }
}

constexpr Bound kBounds[] = {
    {"lifecycle.per-worker.shutdown", 2, 227'375},
    {"lifecycle.per-worker.double-shutdown", 2, 1'344'601},
    {"lifecycle.per-worker.stop-before-first-poll", 2, 11'772},
    {"lifecycle.per-worker.drain", 2, 677'222},
    {"lifecycle.per-worker.drain-zero", 2, 227'375},
    {"lifecycle.per-worker.drain-stuck", 2, 3'704},
    {"lifecycle.per-worker.failed-start", 2, 49'214, 1},
    {"lifecycle.per-worker.cap", 2, 139'392},
    {"lifecycle.per-worker.emfile", 2, 398'623},
    {"lifecycle.per-worker.handoff", 1, 40'079},
    {"lifecycle.per-worker.push-meets-close", 2, 730'008},
    {"lifecycle.per-worker.crash", 2, 28'343},
    {"lifecycle.shared.shutdown", 2, 121'128},
    {"lifecycle.shared.double-shutdown", 2, 723'849},
    {"lifecycle.shared.stop-before-first-poll", 2, 15'213},
    {"lifecycle.shared.drain", 2, 304'158},
    {"lifecycle.shared.drain-zero", 2, 121'128},
    {"lifecycle.shared.drain-stuck", 2, 4'372},
    {"lifecycle.shared.failed-start", 2, 35'751, 1},
    {"lifecycle.shared.cap", 2, 387'188},
    {"lifecycle.shared.emfile", 2, 645'953},
    {"lifecycle.shared.handoff", 1, 32'686},
    {"lifecycle.shared.push-meets-close", 2, 660'782},
    {"lifecycle.shared.crash", 2, 118'269},
};

INSTANTIATE_TEST_SUITE_P(Scenarios, SimLifecycle, ::testing::ValuesIn(kBounds), [](const auto& one) {
  std::string name = one.param.scenario;
  for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace flare::sim
