// The text of a schedule's choices, and a replay that does not fit.
#include <cstdio>

#include "engine/random.h"
#include "engine_tests/small_runs.h"

namespace flare::sim {
namespace {

TEST(SimChoice, TheTextOfAnyChoicesIsReadBack) {
  constexpr std::uint64_t kSeed = 20260101;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 10'000; ++round) {
    ChoiceString choices;
    std::uint32_t site = 0;
    for (std::uint32_t left = random.below(12); left > 0; --left) {
      Choice one;
      one.site = site += 1 + random.below(1 << random.below(20));
      one.options = 2 + random.below(1 << random.below(16));
      one.taken = 1 + random.below(one.options - 1);
      choices.push_back(one);
    }
    const auto read = parse_choices(to_text(choices));
    ASSERT_TRUE(read) << to_text(choices);
    ASSERT_EQ(read->size(), choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      EXPECT_EQ((*read)[i].site, choices[i].site);
      EXPECT_EQ((*read)[i].options, choices[i].options);
      EXPECT_EQ((*read)[i].taken, choices[i].taken);
    }
  }
}

TEST(SimChoice, TheCalmestScheduleIsADash) {
  EXPECT_EQ(to_text({}), "-");
  EXPECT_TRUE(parse_choices("-").value().empty());
}

TEST(SimChoice, TextOfAnotherFormIsRefused) {
  for (const char* text : {"", "x", "1", "1:1", "1:1/", "1:0/2", "1:2/2", "1:1/2;2:1/2", "2:1/2,1:1/2", "1:1/2,1:1/2",
                           "1:1/2,", ",1:1/2", "-1:1/2", "1:1/2 ", "99999999999:1/2"}) {
    EXPECT_FALSE(parse_choices(text)) << text;
  }
}

TEST(SimChoice, PreemptionsAndFaultsAreCounted) {
  const auto of = [](ChoiceKind kind, std::uint32_t taken) { return Choice{1, 3, taken, kind, {}}; };
  const ChoiceString choices{of(ChoiceKind::kPreempt, 1), of(ChoiceKind::kPreempt, 2), of(ChoiceKind::kPreempt, 0),
                             of(ChoiceKind::kFault, 2),   of(ChoiceKind::kSwitch, 1),  of(ChoiceKind::kStale, 1)};
  EXPECT_EQ(preemptions_of(choices), 2);
  EXPECT_EQ(faults_of(choices), 1);
}

// --- replay

void choose_twice(std::uint32_t first, std::uint32_t second) {
  static_cast<void>(Schedule::current()->choose(first, ChoiceKind::kCalm, "first"));
  static_cast<void>(Schedule::current()->choose(second, ChoiceKind::kCalm, "second"));
}

Verdict replay_twice(const char* text, bool strict, std::uint32_t first, std::uint32_t second) {
  Replay source(parse_choices(text).value(), strict);
  return run_all(source, [=] { choose_twice(first, second); }).front();
}

TEST(SimReplay, TakesWhatTheStringSays) {
  const Verdict verdict = replay_twice("1:2/3,2:1/2", true, 3, 2);
  EXPECT_TRUE(verdict.ok()) << verdict.nondeterminism;
  EXPECT_EQ(to_text(verdict.choices), "1:2/3,2:1/2");
}

TEST(SimReplay, AnotherNumberOfOptionsIsNondeterminism) {
  EXPECT_NE(replay_twice("1:2/3", true, 4, 2).nondeterminism, "");
  EXPECT_EQ(replay_twice("1:2/3", true, 4, 2).oracle, "nondeterministic");
  EXPECT_TRUE(replay_twice("1:2/3", false, 4, 2).ok());
  EXPECT_EQ(to_text(replay_twice("1:2/3", false, 2, 2).choices), "-");  // what cannot be taken is left calm
}

TEST(SimReplay, AChoiceThatIsNotAskedForIsNondeterminism) {
  EXPECT_NE(replay_twice("1:2/3", true, 1, 2).nondeterminism, "");  // passed by
  EXPECT_NE(replay_twice("7:1/2", true, 3, 2).nondeterminism, "");  // never reached
  EXPECT_TRUE(replay_twice("7:1/2", false, 3, 2).ok());
}

// --- a scenario that depends on more than its choices

Scenario forgetful(std::uint32_t& runs) {
  Scenario scenario;
  scenario.name = "forgetful";
  scenario.body = [&runs] {
    for (std::uint32_t i = runs++ % 3; i > 0; --i) Schedule::current()->note("more", 0, 0);
    choose_twice(2, 2);
  };
  return scenario;
}

TEST(SimReplay, AScenarioThatDependsOnOtherThanItsChoicesIsFound) {
  std::uint32_t runs = 0;
  Explorer explorer(forgetful(runs));
  ExplorerLimits limits;
  limits.repeat_every = 1;
  Uniform uniform(1, 10, 0.5, 0.5, 0.5);
  EXPECT_EQ(explorer.run(uniform, limits).failure.oracle, "nondeterministic");
  limits.learn_first = false;
  EXPECT_EQ(explorer.enumerate({}, limits).failure.oracle, "nondeterministic");
}

// The enumeration itself finds a prefix that asks for something else than before.
TEST(SimReplay, AnEnumerationWhosePrefixChangesIsNondeterministic) {
  std::uint32_t runs = 0;
  Budget budget;
  budget.calm = 2;
  Enumeration source(budget, false);
  const std::vector<Verdict> all = run_all(source, [&runs] { choose_twice(2 + runs++ / 2, 2); });
  ASSERT_GE(all.size(), 3U);
  EXPECT_EQ(all[2].oracle, "nondeterministic");
  EXPECT_NE(all[2].nondeterminism, "");
}

}  // namespace
}  // namespace flare::sim
