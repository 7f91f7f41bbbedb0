// Random scripts of calls give the same results, errors, readiness and events on this kernel and on the simulated one.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "conformance/generator.h"
#include "conformance/runner.h"
#include "support/number_from.h"

namespace flare::sim::conformance {
namespace {

constexpr std::uint64_t kScripts = 3000;
constexpr std::uint64_t kSeed = 20240611;

using testing::number_from;

void print_coverage(const Runner& runner) {
  std::size_t pairs = 0;
  for (const auto& [pair, count] : runner.real_coverage()) {
    const auto other = runner.simulated_coverage().find(pair);
    const std::uint64_t simulated = other == runner.simulated_coverage().end() ? 0 : other->second;
    std::printf("  %-28s %9llu %9llu\n", pair.c_str(), static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(simulated));
    ++pairs;
  }
  std::printf("%zu pairs of call and result, %llu calls (real, simulated)\n", pairs,
              static_cast<unsigned long long>(runner.calls()));
}

// Script i is made from seed + i alone, so each can be run by itself.
TEST(Conformance, RandomScriptsGiveTheSameOnTheRealKernel) {
  const std::uint64_t scripts = number_from("FLARE_SIM_SCRIPTS", kScripts);
  const std::uint64_t seed = number_from("FLARE_SIM_SEED", kSeed);
  std::printf("seed %llu, %llu scripts\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(scripts));
  Runner runner;
  for (std::uint64_t i = 0; i < scripts; ++i) {
    const Script script = Generator(seed + i).make();
    const auto disagreement = runner.run(script);
    if (!disagreement) continue;
    const Script small = runner.shrink(script);
    const auto again = runner.run(small);
    FAIL() << "call " << disagreement->call << " of script " << seed + i << ": " << disagreement->what << "\n"
           << describe(small) << "  " << (again ? again->what : "does not happen each time")
           << "\nREPLAY: FLARE_SIM_SEED=" << seed + i
           << " FLARE_SIM_SCRIPTS=1 sim_conformance --gtest_filter=Conformance.Random*";
  }
  print_coverage(runner);
  for (const auto& [pair, count] : runner.simulated_coverage()) {
    EXPECT_TRUE(runner.real_coverage().contains(pair)) << pair << " came from the simulation alone";
  }
}

}  // namespace
}  // namespace flare::sim::conformance
