// Each defect that the checkers can be given is seen by the comparison with brute force.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "brute_force.h"
#include "history/exact.h"
#include "history/patterns.h"
#include "history/windows.h"
#include "random_history.h"
#include "support/random_seed.h"

namespace flare::sim {
namespace {

constexpr std::uint64_t kMostHistories = 400'000;

std::uint64_t seed() {
  static const std::uint64_t chosen = testing::random_seed("sim_history", "Mutants.*");
  return chosen;
}

// differs(random) compares once. Expects a difference within kMostHistories.
template <class Differs>
void expect_found(const std::string& name, const Differs& differs) {
  for (std::uint64_t i = 0; i < kMostHistories; ++i) {
    Random random(seed() + i);
    if (!differs(random)) continue;
    std::printf("%-24s found by history %llu\n", name.c_str(), static_cast<unsigned long long>(i + 1));
    return;
  }
  ADD_FAILURE() << name << " was not found, FLARE_TEST_SEED=" << seed();
}

template <ExactFaults kFaults>
void expect_exact_found(const std::string& name) {
  BasicExactChecker<kFaults> checkers[] = {BasicExactChecker<kFaults>(0), BasicExactChecker<kFaults>(1),
                                           BasicExactChecker<kFaults>(2), BasicExactChecker<kFaults>(3),
                                           BasicExactChecker<kFaults>(kUnbounded)};
  History history;
  expect_found(name, [&](Random& random) {
    const Shape shape = random_shape(random);
    random_history(random, shape, history);
    auto& checker = checkers[shape.capacity == kUnbounded ? 4 : shape.capacity];
    return checker.is_linearizable(history) != brute_force(history, shape.capacity);
  });
}

TEST(Mutants, OfTheExactCheckerAreFound) {
  expect_exact_found<ExactFaults{.no_capacity = true}>("no_capacity");
  expect_exact_found<ExactFaults{.stateless_memo = true}>("stateless_memo");
  expect_exact_found<ExactFaults{.pending_lost = true}>("pending_lost");
  expect_exact_found<ExactFaults{.pending_returned = true}>("pending_returned");
  expect_exact_found<ExactFaults{.no_real_time = true}>("no_real_time");
  expect_exact_found<ExactFaults{.no_backtracking = true}>("no_backtracking");
  expect_exact_found<ExactFaults{.drain_counts = true}>("drain_counts");
  expect_exact_found<ExactFaults{.close_forgotten = true}>("close_forgotten");
  expect_exact_found<ExactFaults{.reads_at_any_time = true}>("reads_at_any_time");
}

void expect_pattern_found(const std::string& name, const PatternFaults& faults) {
  History history;
  expect_found(name, [&](Random& random) {
    random_history(random, unbounded_shape(random), history);
    return judge_by_patterns(as_long(history), kUnbounded, faults).ok() != brute_force(history, kUnbounded);
  });
}

TEST(Mutants, OfThePatternsAreFound) {
  expect_pattern_found("no_fresh", {.no_fresh = true});
  expect_pattern_found("no_repeat", {.no_repeat = true});
  expect_pattern_found("no_order", {.no_order = true});
  expect_pattern_found("no_witness", {.no_witness = true});
  expect_pattern_found("order_without_lost", {.order_without_lost = true});
  expect_pattern_found("witness_alone", {.witness_alone = true});
  expect_pattern_found("late_fresh", {.late_fresh = true});
  expect_pattern_found("order_by_calls", {.order_by_calls = true});
}

// Only what the patterns reject counts here: they may accept too much of a bounded queue.
TEST(Mutants, OfTheBoundsAreFound) {
  History history;
  expect_found("bounds_off_by_one", [&](Random& random) {
    Shape shape = random_shape(random);
    shape.pending = shape.equal_values = false;
    random_history(random, shape, history);
    return !judge_by_patterns(as_long(history), shape.capacity, {.bounds_off_by_one = true}).ok() &&
           brute_force(history, shape.capacity);
  });
}

void expect_window_found(const std::string& name, const WindowFaults& faults) {
  History history;
  expect_found(name, [&](Random& random) {
    Shape shape = random_shape(random);
    shape.quiescent = true;
    shape.equal_values = false;
    random_history(random, shape, history);
    return judge_windows(as_long(history), shape.capacity, faults).ok != brute_force(history, shape.capacity);
  });
}

TEST(Mutants, OfTheWindowsAreFound) {
  expect_window_found("cut_too_late", {.cut_too_late = true});
  expect_window_found("cut_too_early", {.cut_too_early = true});
  expect_window_found("one_state", {.one_state = true});
  expect_window_found("starts_empty", {.starts_empty = true});
}

}  // namespace
}  // namespace flare::sim
