// A failure is its string: it replays to the same end in an explorer that knows nothing of the search that found it.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

#include "engine/crash_trap.h"
#include "scenarios/mutants_table.h"

namespace flare::sim {
namespace {

constexpr int kFailures = 100;

// The string survives being written down, and its schedule ends alike, with the same trace.
void require_replay(const Scenario& broken, const Verdict& failure) {
  const std::optional<ChoiceString> written = parse_choices(to_text(failure.choices));
  ASSERT_TRUE(written.has_value()) << to_text(failure.choices);
  Explorer fresh(broken);
  for (int i = 0; i < 2; ++i) {
    const Verdict again = fresh.replay(*written);
    EXPECT_EQ(again.oracle, failure.oracle) << broken.name << ":" << to_text(failure.choices);
    EXPECT_EQ(again.text, failure.text) << broken.name << ":" << to_text(failure.choices);
    EXPECT_EQ(again.hash, failure.hash) << broken.name << ":" << to_text(failure.choices);
    EXPECT_EQ(again.nondeterminism, "") << broken.name << ":" << to_text(failure.choices);
  }
}

TEST(SimReplay, ARandomFailureOfAMutantReplaysToTheSameTrace) {
  if (!survives_misused_memory()) GTEST_SKIP() << "a sanitizer ends the process at the defect";
  int failures = 0;
  std::size_t choices = 0;
  for (std::uint64_t seed = 1; failures < kFailures && seed < 100; ++seed) {
    for (const MutantCase& one : mutant_cases()) {
      const Scenario broken = with_mutant(one);
      Explorer explorer(broken);
      Uniform source(seed * 1000, 50, 0.1, 0.05, 0.05);
      const Exploration found = explorer.run(source);
      if (found.ok() || found.failure.choices.empty()) continue;  // a failure without a choice proves little
      require_replay(broken, found.failure);
      ++failures;
      choices += found.failure.choices.size();
    }
  }
  std::printf("%d failures, %zu choices, each replayed twice\n", failures, choices);
  EXPECT_GE(failures, kFailures);
}

// Writes down what another source chose.
class Recorder : public ChoiceSource {
 public:
  explicit Recorder(std::uint64_t seed) : source_(seed, 1, 0.1, 0.05, 0.0) {}
  bool begin_schedule() override { return source_.begin_schedule(); }
  bool may_deviate(ChoiceKind kind) override { return source_.may_deviate(kind); }
  std::uint32_t take(const Choice& choice) override {
    Choice taken = choice;
    taken.taken = source_.take(choice);
    if (taken.taken != 0) choices.push_back(taken);
    return taken.taken;
  }
  ChoiceString choices;

 private:
  Uniform source_;
};

TEST(SimReplay, TheSameScheduleFirstAndLastHasOneHash) {
  std::set<std::string> done;
  for (const MutantCase& one : mutant_cases()) {
    if (!done.insert(one.scenario.name).second) continue;
    Explorer explorer(one.scenario);
    Recorder recorder(7);
    ASSERT_TRUE(explorer.run(recorder, {.repeat_every = 0}).ok());
    const Verdict first = Explorer(one.scenario).replay(recorder.choices);
    Uniform others(1, 100, 0.1, 0.05, 0.0);
    static_cast<void>(explorer.run(others));
    const Verdict last = explorer.replay(recorder.choices);
    EXPECT_EQ(first.oracle, last.oracle) << one.scenario.name << ":" << to_text(recorder.choices);
    EXPECT_EQ(first.hash, last.hash) << one.scenario.name << ":" << to_text(recorder.choices);
  }
}

}  // namespace
}  // namespace flare::sim
