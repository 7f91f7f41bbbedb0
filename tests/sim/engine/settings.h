// settings.h: what a scenario's runs have in common: environment, switches, limits.
// Threads:    set on the host, before the first schedule.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/mutants.h"

namespace flare::sim {

struct Settings {
  std::vector<std::pair<std::string, std::string>> environment;
  bool faults = false;           // calls may fail where choose says so
  Mutant mutant = Mutant::kOff;  // which defect of the product is switched on
};

Settings& settings();

}  // namespace flare::sim
