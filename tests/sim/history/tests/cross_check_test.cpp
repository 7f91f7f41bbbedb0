// The checkers against brute force, on small random histories. How many: FLARE_HISTORIES.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "brute_force.h"
#include "history/exact.h"
#include "history/patterns.h"
#include "history/windows.h"
#include "random_history.h"
#include "support/number_from.h"
#include "support/random_seed.h"

namespace flare::sim {
namespace {

std::uint64_t histories() {
  return testing::number_from("FLARE_HISTORIES", 50'000);
}

// Each history comes from its own seed: seed + its number.
struct Comparison {
  explicit Comparison(const char* name) : seed(testing::random_seed("sim_history", name)) {
    std::printf("histories: FLARE_HISTORIES=%llu\n", static_cast<unsigned long long>(count));
  }
  // Both verdicts must be frequent, or the comparison says little.
  void expect_both() const {
    std::printf("linearizable: %llu of %llu\n", static_cast<unsigned long long>(right),
                static_cast<unsigned long long>(judged));
    EXPECT_GE(judged, count / 2);
    EXPECT_GE(right, judged / 5);
    EXPECT_GE(judged - right, judged / 5);
  }

  std::uint64_t seed;
  std::uint64_t count = histories();
  std::uint64_t judged = 0;
  std::uint64_t right = 0;
};

TEST(CrossCheck, TheExactCheckerAgreesWithBruteForce) {
  Comparison run("CrossCheck.TheExact*");
  ExactChecker checkers[] = {ExactChecker(0), ExactChecker(1), ExactChecker(2), ExactChecker(3),
                             ExactChecker(kUnbounded)};
  History history;
  for (; run.judged < run.count; ++run.judged) {
    Random random(run.seed + run.judged);
    const Shape shape = random_shape(random);
    random_history(random, shape, history);
    const bool right = brute_force(history, shape.capacity);
    run.right += right ? 1 : 0;
    ExactChecker& checker = checkers[shape.capacity == kUnbounded ? 4 : shape.capacity];
    ASSERT_EQ(right, checker.is_linearizable(history)) << "FLARE_TEST_SEED=" << run.seed + run.judged << "\n"
                                                       << explain(history, shape.capacity);
  }
  run.expect_both();
}

TEST(CrossCheck, ThePatternsAgreeWithBruteForceOnAnUnboundedQueue) {
  Comparison run("CrossCheck.ThePatternsAgree*");
  History history;
  for (; run.judged < run.count; ++run.judged) {
    Random random(run.seed + run.judged);
    random_history(random, unbounded_shape(random), history);
    const bool right = brute_force(history, kUnbounded);
    run.right += right ? 1 : 0;
    const PatternVerdict verdict = judge_by_patterns(as_long(history), kUnbounded);
    ASSERT_NE(Pattern::kNotJudged, verdict.pattern) << verdict.text;
    ASSERT_EQ(right, verdict.ok()) << "FLARE_TEST_SEED=" << run.seed + run.judged << "\n"
                                   << verdict.text << "\n"
                                   << explain(history, kUnbounded);
  }
  run.expect_both();
}

// For the whole bounded queue the patterns are proofs of a defect, not of its absence; most defects show one.
TEST(CrossCheck, ThePatternsNeverRejectWhatBruteForceAccepts) {
  Comparison run("CrossCheck.ThePatternsNever*");
  std::uint64_t found = 0;
  History history;
  for (std::uint64_t i = 0; i < run.count; ++i) {
    Random random(run.seed + i);
    Shape shape = random_shape(random);
    shape.pending = shape.equal_values = false;
    random_history(random, shape, history);
    const bool right = brute_force(history, shape.capacity);
    const PatternVerdict verdict = judge_by_patterns(as_long(history), shape.capacity);
    ASSERT_NE(Pattern::kNotJudged, verdict.pattern) << verdict.text;
    ++run.judged;
    run.right += right ? 1 : 0;
    found += verdict.ok() ? 0 : 1;
    ASSERT_TRUE(!right || verdict.ok()) << "FLARE_TEST_SEED=" << run.seed + i << "\n"
                                        << verdict.text << "\n"
                                        << explain(history, shape.capacity);
  }
  run.expect_both();
  const std::uint64_t wrong = run.judged - run.right;
  std::printf("found by patterns: %llu of %llu\n", static_cast<unsigned long long>(found),
              static_cast<unsigned long long>(wrong));
  EXPECT_GE(found, wrong * 9 / 10);
}

TEST(CrossCheck, TheWindowsAgreeWithBruteForce) {
  Comparison run("CrossCheck.TheWindows*");
  std::uint64_t cut = 0;
  std::uint64_t several = 0;
  History history;
  for (; run.judged < run.count; ++run.judged) {
    Random random(run.seed + run.judged);
    Shape shape = random_shape(random);
    shape.quiescent = true;
    shape.equal_values = false;
    random_history(random, shape, history);
    const bool right = brute_force(history, shape.capacity);
    run.right += right ? 1 : 0;
    const WindowVerdict verdict = judge_windows(as_long(history), shape.capacity);
    cut += verdict.judged > 1 ? 1 : 0;
    several += verdict.most_states > 1 ? 1 : 0;
    ASSERT_EQ(right, verdict.ok) << "FLARE_TEST_SEED=" << run.seed + run.judged << "\n"
                                 << verdict.text << "\n"
                                 << explain(history, shape.capacity);
  }
  run.expect_both();
  EXPECT_GE(cut, run.count / 4);
  EXPECT_GE(several, run.count / 100);
}

}  // namespace
}  // namespace flare::sim
