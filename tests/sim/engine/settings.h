// settings.h: what a scenario's runs have in common: environment, switches, limits.
// Threads:    set on the host, before the first schedule.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flare::sim {

struct Settings {
  std::vector<std::pair<std::string, std::string>> environment;
  bool faults = false;  // calls may fail where choose says so
  int mutant = 0;       // which switch in the product is on; 0: none
};

Settings& settings();

}  // namespace flare::sim
