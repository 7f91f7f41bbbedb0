// mutants_table.h: every defect that can be switched on in the product, the scenario that finds it, and how.
#pragma once

#include <string>
#include <vector>

#include "engine/explorer.h"

namespace flare::sim {

// All schedules within a budget, or random ones with so many preemptions of a hundred scheduling points.
struct Search {
  Budget budget;
  int percent = 0;  // above 0: random
};

struct MutantCase {
  Mutant mutant;
  const char* name;
  Scenario scenario;
  Search search;
  const char* oracle = "";    // that must say so; empty: any
  bool named = false;         // one of those that must be found at once, by few preemptions
  std::uint64_t most = 1000;  // schedules
  const char* reason = "";    // why it needs more than 1,000
};

std::vector<MutantCase> mutant_cases();
// The scenario with the defect switched on, under a name of its own.
Scenario with_mutant(const MutantCase& one);

}  // namespace flare::sim
