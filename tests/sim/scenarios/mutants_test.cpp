// The tester tested: each defect that can be switched on in the product is found; switched off, nothing is.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "engine/crash_trap.h"
#include "scenarios/mutants_table.h"

namespace flare::sim {
namespace {

ExplorerLimits limits_of(const MutantCase& one) {
  ExplorerLimits limits;
  limits.most_schedules = one.most;
  limits.learn_first = false;  // each schedule counts
  return limits;
}

Exploration explore(Explorer& explorer, const MutantCase& one) {
  if (one.search.percent == 0) return explorer.enumerate(one.search.budget, limits_of(one));
  Uniform source(1, one.most, one.search.percent / 100.0, 0, 0);
  return explorer.run(source, limits_of(one));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A stolen number shows in the report: which it is, and who has it now.
void require_theft(Explorer& explorer, const Verdict& failure) {
  const std::string text = explorer.report(failure);
  EXPECT_NE(text.find("a stolen number"), std::string::npos) << text;
  EXPECT_NE(text.find("a stranger opens"), std::string::npos) << text;
}

void find(const MutantCase& one) {
  Explorer explorer(with_mutant(one));
  const auto start = std::chrono::steady_clock::now();
  const Exploration found = explore(explorer, one);
  const double seconds = seconds_since(start);
  if (found.ok()) {
    ADD_FAILURE() << one.name << " is not found by " << one.scenario.name << " in " << found.executed << " schedules"
                  << (found.complete ? ", which are all" : "");
    return;
  }
  const ChoiceString small = explorer.shrink(found.failure);
  std::printf("%-27s %-34s %5llu schedules %6.3f s  %d preemptions, %d faults, of %zu choices  %s: %s\n", one.name,
              one.scenario.name.c_str(), static_cast<unsigned long long>(found.executed), seconds,
              preemptions_of(small), faults_of(small), small.size(), found.failure.oracle.c_str(),
              found.failure.text.c_str());
  std::fflush(stdout);
  EXPECT_LE(found.executed, one.most) << one.name;
  if (*one.oracle != 0) {
    EXPECT_EQ(found.failure.oracle, one.oracle) << explorer.report(found.failure);
  }
  if (one.named) {
    EXPECT_LE(preemptions_of(small), 3) << one.name;
    EXPECT_LE(seconds, 1.0) << one.name;
  }
  if (one.mutant == Mutant::kListenerClosedBeforeJoin) require_theft(explorer, found.failure);
  if (std::getenv("FLARE_SIM_REPORT") != nullptr) std::printf("%s\n", explorer.report(found.failure).c_str());
}

// The same scenario and as many schedules of it, with the product as it is.
void find_nothing(const MutantCase& one) {
  Explorer explorer(one.scenario);
  const Exploration all = explore(explorer, one);
  EXPECT_TRUE(all.ok()) << "without " << one.name << ": " << explorer.report(all.failure);
}

bool is_wanted(const MutantCase& one) {
  const char* only = std::getenv("FLARE_SIM_ONLY");
  return only == nullptr || std::string(one.name).find(only) != std::string::npos;
}

TEST(SimMutants, EachSwitchHasARow) {
  std::set<Mutant> rows;
  for (const MutantCase& one : mutant_cases()) {
    rows.insert(one.mutant);
    EXPECT_TRUE(one.most <= 1000 || *one.reason != 0) << one.name << " needs many schedules for no reason";
  }
  EXPECT_EQ(rows.size() + 1, static_cast<std::size_t>(Mutant::kCount_));  // one is off
}

TEST(SimMutants, EachIsFound) {
  if (!survives_misused_memory()) GTEST_SKIP() << "a sanitizer ends the process at the defect";
  for (const MutantCase& one : mutant_cases()) {
    if (is_wanted(one)) find(one);
  }
}

TEST(SimMutants, NothingIsFoundInTheProductAsItIs) {
  for (MutantCase& one : mutant_cases()) {
    if (!survives_misused_memory()) one.most = 20;  // a sanitizer is slow
    if (is_wanted(one)) find_nothing(one);
  }
}

}  // namespace
}  // namespace flare::sim
