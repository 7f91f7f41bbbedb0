// From a long string of random choices to the shortest one that fails alike.
#include "engine_tests/small_runs.h"

namespace flare::sim {
namespace {

// Fails when c falls between a and b, and only there: one preemption. Everything else that it chooses is noise.
Scenario planted() {
  Scenario scenario;
  scenario.name = "planted";
  scenario.options.every_point = true;
  scenario.body = [] {
    const auto word = std::make_unique<AtomicWord>(0);
    bool between = false;
    bool hit = false;
    run_together({[&] {
                    for (int i = 0; i < 5; ++i) tick(*word);
                    between = true;
                    tick(*word);
                    between = false;
                    tick(*word);
                  },
                  [&] {
                    for (int i = 0; i < 5; ++i) {
                      tick(*word);
                      static_cast<void>(Schedule::current()->choose(9, ChoiceKind::kCalm, "noise"));
                      static_cast<void>(Schedule::current()->choose(9, ChoiceKind::kFault, "noise"));
                      hit = hit || between;
                    }
                  }});
    Schedule::current()->require(!hit, "planted", "c between a and b");
  };
  return scenario;
}

TEST(SimShrink, LeavesOnlyWhatTheFailureNeeds) {
  Explorer explorer(planted());
  Uniform source(3, 100'000, 0.5, 0.9, 0.9);
  const Exploration random = explorer.run(source);
  ASSERT_EQ(random.failure.oracle, "planted");
  EXPECT_GT(random.failure.choices.size(), 8U);
  const ChoiceString small = explorer.shrink(random.failure);
  EXPECT_EQ(preemptions_of(small), 1) << to_text(small);
  EXPECT_EQ(faults_of(small), 0) << to_text(small);
  EXPECT_EQ(small.size(), 1U) << to_text(small);
  const Verdict again = explorer.replay(small);
  EXPECT_EQ(again.oracle, "planted");
  EXPECT_TRUE(again.nondeterminism.empty());
}

TEST(SimShrink, LowersEachChoice) {
  Scenario scenario;
  scenario.name = "large numbers";
  scenario.body = [] {
    const std::uint32_t first = Schedule::current()->choose(50, ChoiceKind::kCalm, "first");
    static_cast<void>(Schedule::current()->choose(50, ChoiceKind::kCalm, "noise"));
    const std::uint32_t second = Schedule::current()->choose(50, ChoiceKind::kFault, "second");
    Schedule::current()->require(first < 17 || second < 5, "planted", "both are large");
  };
  Explorer explorer(std::move(scenario));
  const Verdict failure = explorer.replay(parse_choices("1:44/50,2:31/50,3:29/50").value());
  ASSERT_EQ(failure.oracle, "planted");
  EXPECT_EQ(to_text(explorer.shrink(failure)), "1:17/50,3:5/50");
}

TEST(SimShrink, KeepsTheOracle) {
  Scenario scenario;
  scenario.name = "two failures";
  scenario.body = [] {
    const std::uint32_t first = Schedule::current()->choose(4, ChoiceKind::kCalm, "first");
    Schedule::current()->require(first != 1, "another", "the smaller one");
    Schedule::current()->require(first != 3, "wanted", "the larger one");
  };
  Explorer explorer(std::move(scenario));
  const Verdict failure = explorer.replay(parse_choices("1:3/4").value());
  ASSERT_EQ(failure.oracle, "wanted");
  EXPECT_EQ(to_text(explorer.shrink(failure)), "1:3/4");
}

TEST(SimShrink, TheReportHasAllThatAPersonNeeds) {
  Explorer explorer(planted());
  Uniform source(3, 100'000, 0.5, 0.9, 0.9);
  const Exploration random = explorer.run(source);
  const std::string report = explorer.report(random.failure);
  const std::string small = to_text(explorer.shrink(random.failure));
  for (const std::string& wanted :
       {std::string("planted: c between a and b"), "REPLAY=planted:" + to_text(random.failure.choices),
        "REPLAY=planted:" + small + "  (1 preemptions, 0 faults)", std::string("read-modify-write")}) {
    EXPECT_NE(report.find(wanted), std::string::npos) << wanted << "\n" << report;
  }
}

}  // namespace
}  // namespace flare::sim
