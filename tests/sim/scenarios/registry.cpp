#include "scenarios/registry.h"

#include <charconv>
#include <utility>

#include "scenarios/faults.h"
#include "scenarios/http.h"
#include "scenarios/lifecycle.h"
#include "scenarios/mutants_table.h"
#include "scenarios/queue.h"
#include "scenarios/storm.h"

namespace flare::sim {

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all = queue_scenarios();
  for (const ListenerStrategy strategy : {ListenerStrategy::kPerWorker, ListenerStrategy::kShared}) {
    for (Scenario& one : lifecycle_scenarios(strategy)) all.push_back(std::move(one));
    for (Scenario& one : http_scenarios(strategy)) all.push_back(std::move(one));
    for (Scenario& one : storm_scenarios(strategy)) all.push_back(std::move(one));
    for (Scenario& one : chaos_scenarios(strategy)) all.push_back(std::move(one));
    all.push_back(fault_scenario(strategy));
  }
  for (const MutantCase& one : mutant_cases()) all.push_back(with_mutant(one));
  return all;
}

std::optional<Scenario> find_scenario(std::string_view name) {
  for (Scenario& one : all_scenarios()) {
    if (one.name == name) return std::move(one);
  }
  // memory.STRATEGY.N: one for each allocation.
  for (const ListenerStrategy strategy : {ListenerStrategy::kPerWorker, ListenerStrategy::kShared}) {
    const std::string head = "memory." + strategy_text(strategy) + ".";
    if (!name.starts_with(head)) continue;
    const std::string_view digits = name.substr(head.size());
    std::uint64_t nth = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), nth);
    if (error == std::errc{} && end == digits.data() + digits.size()) return memory_scenario(strategy, nth);
  }
  return std::nullopt;
}

}  // namespace flare::sim
