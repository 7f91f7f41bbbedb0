// The bytes of an input are the choices of one schedule of a server's life: which thread runs next, which waiter wakes,
// what a client does. The first byte picks the scenario, or FLARE_FUZZ_SCENARIO is how the names begin of those
// to pick from; sim_replay lists them, the ones with a planted defect too.
//
// A scheduling point is learned by the first schedule that needs it, so the same bytes may mean a little more later in
// a run. What does not depend on that is the REPLAY= line that a failure prints.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/lifecycle.h"
#include "scenarios/registry.h"
#include "scenarios/storm.h"
#include "target.h"

namespace flare::fuzz {
namespace {

std::vector<sim::Scenario> named_scenarios(std::string_view prefix) {
  std::vector<sim::Scenario> named;
  for (sim::Scenario& one : sim::all_scenarios()) {
    if (one.name.starts_with(prefix)) named.push_back(std::move(one));
  }
  if (!named.empty()) return named;
  std::fprintf(stderr, "FLARE_FUZZ_SCENARIO: no scenario's name begins with '%s'\n", std::string(prefix).c_str());
  std::exit(2);
}

std::vector<sim::Scenario> chosen_scenarios() {
  if (const char* prefix = std::getenv("FLARE_FUZZ_SCENARIO")) return named_scenarios(prefix);
  std::vector<sim::Scenario> all;
  for (const ListenerStrategy strategy : {ListenerStrategy::kPerWorker, ListenerStrategy::kShared}) {
    for (sim::Scenario& one : sim::lifecycle_scenarios(strategy)) all.push_back(std::move(one));
    for (sim::Scenario& one : sim::storm_scenarios(strategy)) all.push_back(std::move(one));
  }
  return all;
}

// One explorer for each scenario, from its first use: it keeps what it has learned.
class Explorers {
 public:
  Explorers() : scenarios_(chosen_scenarios()), explorers_(scenarios_.size()) {}

  const std::string& name(std::uint8_t pick) const { return scenarios_[pick % scenarios_.size()].name; }

  sim::Explorer& at(std::uint8_t pick) {
    const std::size_t index = pick % scenarios_.size();
    std::unique_ptr<sim::Explorer>& one = explorers_[index];
    if (!one) {
      one = std::make_unique<sim::Explorer>(scenarios_[index]);
      sim::Uniform first(1, 40, 0.1, 0.0, 0.0);
      const sim::Exploration all = one->run(first, {.repeat_every = 0});
      // A planted defect is for the bytes to find.
      if (scenarios_[index].settings.mutant == sim::Mutant::kOff) check(*one, all);
    }
    return *one;
  }

  static void check(sim::Explorer& explorer, const sim::Exploration& all) {
    if (!all.ok()) fail(0, explorer.report(all.failure));
  }

 private:
  std::vector<sim::Scenario> scenarios_;
  std::vector<std::unique_ptr<sim::Explorer>> explorers_;
};

Explorers& explorers() {
  // Never destroyed: the simulated kernel, which scenarios hold on to, is gone by then.
  static Explorers& all = *new Explorers();
  return all;
}

}  // namespace

std::string dump_text(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return "empty\n";
  return explorers().name(data[0]) + ", choices " + escaped(data + 1, size - 1) + '\n';
}

}  // namespace flare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  flare::fuzz::begin_input(data, size);
  flare::sim::Explorer& explorer = flare::fuzz::explorers().at(data[0]);
  flare::sim::Bytes bytes(data + 1, size - 1);
  flare::fuzz::Explorers::check(explorer, explorer.run(bytes, {.repeat_every = 0}));
  return 0;
}
