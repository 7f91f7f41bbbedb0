#include "history/windows.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace flare::sim {
namespace {

struct Script {
  LongHistory history;
  std::uint64_t now = 0;

  // Runs alone.
  void alone(OpKind kind, Outcome outcome, std::int64_t value) {
    add(kind, outcome, value, now, now + 1);
    now += 2;
  }
  void add(OpKind kind, Outcome outcome, std::int64_t value, std::uint64_t call, std::uint64_t ret) {
    Operation operation;
    operation.kind = kind;
    operation.outcome = outcome;
    operation.value = value;
    operation.call = call;
    operation.ret = ret;
    history.operations.push_back(operation);
  }
};

TEST(Windows, CutsWhereNothingRuns) {
  Script script;
  for (std::int64_t value = 0; value < 100; ++value) {
    script.alone(OpKind::kPush, Outcome::kOk, value);
    script.alone(OpKind::kPush, Outcome::kRefused, value);
    script.alone(OpKind::kPop, Outcome::kOk, value);
  }
  const WindowVerdict verdict = judge_windows(script.history, 1);
  EXPECT_TRUE(verdict.ok) << verdict.text;
  EXPECT_EQ(300U, verdict.judged);
  EXPECT_EQ(300U, verdict.operations);
  EXPECT_FALSE(judge_windows(script.history, 2).ok);
}

// 1 and 2 stand in either order after the first window; the second fixes it, and the third must keep to that.
TEST(Windows, HandsOnEveryStateThatIsPossible) {
  for (const std::int64_t second : {1, 2}) {
    Script script;
    script.add(OpKind::kPush, Outcome::kOk, 1, 0, 3);
    script.add(OpKind::kPush, Outcome::kOk, 2, 1, 2);
    script.now = 4;
    script.alone(OpKind::kSize, Outcome::kOk, 2);
    script.alone(OpKind::kPop, Outcome::kOk, 2);
    script.alone(OpKind::kPop, Outcome::kOk, second);
    const WindowVerdict verdict = judge_windows(script.history, 2);
    EXPECT_EQ(second == 1, verdict.ok);
    EXPECT_EQ(2U, verdict.most_states);
  }
}

// A window of more than 64 operations: what is inside after it is known, and the next window is judged again.
TEST(Windows, GoesOnAfterAWindowThatIsTooLong) {
  for (const std::int64_t popped : {1, 64, 70}) {
    Script script;
    for (std::int64_t value = 0; value < 70; ++value) {
      script.add(OpKind::kPush, Outcome::kOk, value, static_cast<std::uint64_t>(value), 1000);
      if (value >= 4) script.add(OpKind::kPop, Outcome::kOk, value, static_cast<std::uint64_t>(value), 1000);
    }
    script.now = 2000;
    script.alone(OpKind::kPop, Outcome::kOk, popped);
    const WindowVerdict verdict = judge_windows(script.history, kUnbounded);
    EXPECT_EQ(1U, verdict.too_hard);
    EXPECT_EQ(popped == 1, verdict.ok) << verdict.text;
  }
}

// 20 values in any order: one order is found, not all can be. Which one leaves first is then more than can be tried.
TEST(Windows, PassesOverWhatIsTooHard) {
  for (const std::int64_t next : {3, 20}) {
    Script script;
    for (std::int64_t value = 0; value < 20; ++value) {
      script.add(OpKind::kPush, Outcome::kOk, value, static_cast<std::uint64_t>(value), 1000);
    }
    script.now = 2000;
    script.alone(OpKind::kPop, Outcome::kOk, 3);
    script.alone(OpKind::kDrain, Outcome::kOk, 0);
    script.history.operations.back().list_size = 19;
    for (std::int64_t value = 0; value < 20; ++value) {
      if (value != 3) script.history.values.push_back(value);
    }
    script.alone(OpKind::kPush, Outcome::kOk, 20);
    script.alone(OpKind::kPop, Outcome::kOk, next);
    const WindowVerdict verdict = judge_windows(script.history, kUnbounded);
    EXPECT_EQ(next == 20, verdict.ok) << verdict.text;
    EXPECT_GE(verdict.too_hard, 1U);
    EXPECT_GE(verdict.judged, 3U);
  }
}

TEST(Windows, ShowsTheWindow) {
  Script script;
  script.alone(OpKind::kPush, Outcome::kOk, 5);
  script.alone(OpKind::kPop, Outcome::kEmpty, 0);
  const std::string text = judge_windows(script.history, 2).text;
  EXPECT_NE(std::string::npos, text.find("operations 1 to 1, after 1 values inside")) << text;
  EXPECT_NE(std::string::npos, text.find("pop() -> empty")) << text;
}

}  // namespace
}  // namespace flare::sim
