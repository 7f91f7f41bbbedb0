#include "history/exact.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "random_history.h"

namespace {
std::size_t allocations = 0;
}

// What the linker puts in place of operator new (WRAP _Znwm).
extern "C" {
void* __real__Znwm(std::size_t size);
void* __wrap__Znwm(std::size_t size);

void* __wrap__Znwm(std::size_t size) {
  ++allocations;
  return __real__Znwm(size);
}
}

namespace flare::sim {
namespace {

using Values = std::vector<std::int64_t>;

// An operation that runs alone.
void alone(History& history, OpKind kind, Outcome outcome, std::int64_t value = 0) {
  history.returned(history.call(0, kind, value), outcome, value);
}
void alone(History& history, OpKind kind, const Values& list) {
  history.returned(history.call(0, kind), list);
}
bool is_linearizable(const History& history, std::size_t capacity) {
  return ExactChecker(capacity).is_linearizable(history);
}

TEST(ExactChecker, TheEmptyHistoryIsLinearizable) {
  EXPECT_TRUE(is_linearizable(History(), 1));
}

TEST(ExactChecker, AValueLeavesInTheOrderInWhichItCame) {
  History history;
  alone(history, OpKind::kPush, Outcome::kOk, 1);
  alone(history, OpKind::kPush, Outcome::kOk, 2);
  History reversed = history;
  alone(history, OpKind::kPop, Outcome::kOk, 1);
  alone(reversed, OpKind::kPop, Outcome::kOk, 2);
  EXPECT_TRUE(is_linearizable(history, 2));
  EXPECT_FALSE(is_linearizable(reversed, 2));
}

TEST(ExactChecker, ConcurrentPushesMayStandInEitherOrder) {
  History history;
  const unsigned first = history.call(0, OpKind::kPush, 1);
  const unsigned second = history.call(1, OpKind::kPush, 2);
  history.returned(first, Outcome::kOk);
  history.returned(second, Outcome::kOk);
  alone(history, OpKind::kDrain, Values{2, 1});
  EXPECT_TRUE(is_linearizable(history, 2));
  EXPECT_FALSE(is_linearizable(history, 1));
}

TEST(ExactChecker, ARefusalNeedsAFullQueue) {
  History history;
  alone(history, OpKind::kPush, Outcome::kOk, 1);
  alone(history, OpKind::kPush, Outcome::kRefusedFull, 2);
  EXPECT_TRUE(is_linearizable(history, 1));
  EXPECT_FALSE(is_linearizable(history, 2));
}

TEST(ExactChecker, OfTwoClosesOneGetsTheValues) {
  History history;
  alone(history, OpKind::kPush, Outcome::kOk, 1);
  const unsigned first = history.call(0, OpKind::kClose);
  const unsigned second = history.call(1, OpKind::kClose);
  History both = history;
  history.returned(first, Values{});
  history.returned(second, Values{1});
  alone(history, OpKind::kPush, Outcome::kRefusedClosed, 2);
  EXPECT_TRUE(is_linearizable(history, 2));
  both.returned(first, Values{1});
  both.returned(second, Values{1});
  EXPECT_FALSE(is_linearizable(both, 2));
}

TEST(ExactChecker, APushAfterACloseIsRefusedAsClosed) {
  for (const Outcome outcome : {Outcome::kOk, Outcome::kRefusedFull, Outcome::kRefusedClosed, Outcome::kRefused}) {
    History history;
    alone(history, OpKind::kClose, Values{});
    alone(history, OpKind::kPush, outcome, 1);
    EXPECT_EQ(outcome == Outcome::kRefusedClosed || outcome == Outcome::kRefused, is_linearizable(history, 0));
  }
}

TEST(ExactChecker, WhatNeverReturnedMayHaveHappenedOrNot) {
  for (const Outcome outcome : {Outcome::kEmpty, Outcome::kOk}) {
    History history;
    history.call(1, OpKind::kPush, 7);
    alone(history, OpKind::kPop, outcome, 7);
    EXPECT_TRUE(is_linearizable(history, 1));
    alone(history, OpKind::kPop, Outcome::kOk, 7);
    EXPECT_EQ(outcome == Outcome::kEmpty, is_linearizable(history, 1));
  }
}

TEST(ExactChecker, TakesUpTo64Operations) {
  History history;
  for (std::int64_t value = 0; value < 32; ++value) {
    alone(history, OpKind::kPush, Outcome::kOk, value);
    alone(history, OpKind::kPop, Outcome::kOk, value);
  }
  EXPECT_TRUE(is_linearizable(history, 1));
  EXPECT_THROW(history.call(0, OpKind::kPop), std::length_error);
}

TEST(ExactChecker, TakesNoMemoryOnceItIsWarm) {
  std::vector<History> histories(2000);
  Random random(1);
  for (History& history : histories) {
    Shape shape = random_shape(random);
    shape.operations = 8 + random.below(12);
    random_history(random, shape, history);
  }
  ExactChecker checker(2);
  std::size_t right = 0;
  for (const History& history : histories) right += checker.is_linearizable(history) ? 1 : 0;
  const std::size_t before = allocations;
  for (const History& history : histories) right -= checker.is_linearizable(history) ? 1 : 0;
  EXPECT_EQ(before, allocations);
  EXPECT_EQ(0U, right);
  EXPECT_GT(before, histories.size());  // the count works: each history with lists has memory
}

// All orders of 12 pushes and 12 pops are 12! times 12!.
TEST(ExactChecker, ManyConcurrentOperationsDoNotExplode) {
  constexpr unsigned kThreads = 12;
  History history;
  for (unsigned i = 0; i < kThreads; ++i) history.call(i, OpKind::kPush, i);
  for (unsigned i = 0; i < kThreads; ++i) history.returned(i, Outcome::kOk);
  for (unsigned i = 0; i < kThreads; ++i) history.call(i, OpKind::kPop);
  for (unsigned i = 0; i < kThreads; ++i) history.returned(kThreads + i, Outcome::kOk, kThreads - 1 - i);
  EXPECT_TRUE(is_linearizable(history, kThreads));
}

TEST(ExactChecker, ExplainsWhatDoesNotFit) {
  History history;
  alone(history, OpKind::kPush, Outcome::kOk, 5);
  alone(history, OpKind::kPush, Outcome::kOk, 6);
  alone(history, OpKind::kPop, Outcome::kOk, 6);
  EXPECT_EQ(
      "NOT linearizable with capacity 2\n"
      " op thread  call   end  what\n"
      "  0      0     0     1  push(5) -> accepted\n"
      "  1      0     2     3  push(6) -> accepted\n"
      "  2      0     4     5  pop() -> 6\n"
      "the longest beginning of an order has: 0 1\n"
      "then inside: 5 6\n"
      "and none of these fits next: 2\n",
      explain(history, 2));
  EXPECT_NE(std::string::npos, explain(History(), 2).find("linearizable with capacity 2"));
}

}  // namespace
}  // namespace flare::sim
