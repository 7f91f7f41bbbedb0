#include "history/patterns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "history/exact.h"

namespace flare::sim {
namespace {

// A history written down by its times.
struct Script {
  LongHistory history;

  void add(OpKind kind, Outcome outcome, std::int64_t value, std::uint64_t call, std::uint64_t ret) {
    Operation operation;
    operation.kind = kind;
    operation.outcome = outcome;
    operation.value = value;
    operation.call = call;
    operation.ret = ret;
    history.operations.push_back(operation);
  }
  void push(std::int64_t value, std::uint64_t call, std::uint64_t ret) {
    add(OpKind::kPush, Outcome::kOk, value, call, ret);
  }
  void refused(std::int64_t value, std::uint64_t call, std::uint64_t ret) {
    add(OpKind::kPush, Outcome::kRefused, value, call, ret);
  }
  void pop(std::int64_t value, std::uint64_t call, std::uint64_t ret) {
    add(OpKind::kPop, Outcome::kOk, value, call, ret);
  }
  void empty(std::uint64_t call, std::uint64_t ret) { add(OpKind::kPop, Outcome::kEmpty, 0, call, ret); }
  void size(std::int64_t value, std::uint64_t call, std::uint64_t ret) {
    add(OpKind::kSize, Outcome::kOk, value, call, ret);
  }
  void list(OpKind kind, const std::vector<std::int64_t>& values, std::uint64_t call, std::uint64_t ret) {
    add(kind, Outcome::kOk, 0, call, ret);
    history.operations.back().list_at = history.values.size();
    history.operations.back().list_size = static_cast<std::uint32_t>(values.size());
    history.values.insert(history.values.end(), values.begin(), values.end());
  }
  Pattern judge(std::size_t capacity = kUnbounded) const { return judge_by_patterns(history, capacity).pattern; }
};

TEST(Patterns, AValueThatWasNotPushedBeforeIsFresh) {
  Script script;
  script.pop(1, 0, 1);
  EXPECT_EQ(Pattern::kFresh, script.judge());
  script.push(1, 2, 3);
  EXPECT_EQ(Pattern::kFresh, script.judge());
  script.history.operations[1].call = 0;
  EXPECT_EQ(Pattern::kNone, script.judge());
}

TEST(Patterns, ARefusedValueIsNotThere) {
  Script script;
  script.refused(1, 0, 1);
  script.pop(1, 2, 3);
  EXPECT_EQ(Pattern::kFresh, script.judge(0));
}

TEST(Patterns, AValueTakenTwiceIsARepeat) {
  Script script;
  script.push(1, 0, 1);
  script.pop(1, 2, 3);
  EXPECT_EQ(Pattern::kNone, script.judge());
  script.list(OpKind::kDrain, {1}, 4, 5);
  EXPECT_EQ(Pattern::kRepeat, script.judge());
}

TEST(Patterns, ALaterValueThatIsTakenFirstIsOutOfOrder) {
  Script script;
  script.push(1, 0, 1);
  script.push(2, 2, 3);
  script.pop(2, 4, 5);
  EXPECT_EQ(Pattern::kOrder, script.judge());  // 1 is lost
  script.pop(1, 6, 7);
  EXPECT_EQ(Pattern::kOrder, script.judge());
  script.history.operations[1].call = 0;
  EXPECT_EQ(Pattern::kNone, script.judge());
}

TEST(Patterns, AListOutOfOrder) {
  Script script;
  script.push(1, 0, 1);
  script.push(2, 2, 3);
  script.list(OpKind::kDrain, {2, 1}, 4, 5);
  EXPECT_EQ(Pattern::kOrder, script.judge());
}

TEST(Patterns, EmptyWhileTheValuesChangeButNeverAllAreGone) {
  Script script;
  script.push(1, 0, 1);
  script.empty(2, 9);
  script.push(2, 3, 4);
  script.pop(1, 5, 6);
  EXPECT_EQ(Pattern::kWitness, script.judge());
  script.history.operations[2].ret = 7;
  EXPECT_EQ(Pattern::kNone, script.judge());
}

TEST(Patterns, ADrainLeavesNothing) {
  Script script;
  script.push(1, 0, 1);
  script.push(2, 2, 3);
  script.list(OpKind::kDrain, {1}, 4, 5);
  EXPECT_EQ(Pattern::kWitness, script.judge());
}

TEST(Patterns, RefusalsAndPushesNeedTheRightNumberInside) {
  Script script;
  script.push(1, 0, 1);
  script.refused(2, 2, 3);
  EXPECT_EQ(Pattern::kNone, script.judge(1));
  EXPECT_EQ(Pattern::kFull, script.judge(2));
  script.push(3, 4, 5);
  EXPECT_EQ(Pattern::kOverflow, script.judge(1));
}

TEST(Patterns, ASizeThatItNeverHad) {
  for (const std::int64_t size : {0, 1, 2, 3}) {
    Script script;
    script.push(1, 0, 1);
    script.push(2, 2, 5);
    script.size(size, 3, 4);
    EXPECT_EQ(size == 1 || size == 2 ? Pattern::kNone : Pattern::kSize, script.judge()) << size;
  }
}

TEST(Patterns, AfterACloseNothingComesAndNothingIsThere) {
  Script script;
  script.list(OpKind::kClose, {}, 0, 3);
  script.refused(1, 1, 2);
  script.push(2, 1, 2);
  script.pop(2, 1, 2);
  EXPECT_EQ(Pattern::kNone, script.judge(1));
  Script after = script;
  after.push(3, 4, 5);
  EXPECT_EQ(Pattern::kClosed, after.judge(1));
  script.history.operations[3].call = 4;
  script.history.operations[3].ret = 5;
  EXPECT_EQ(Pattern::kClosed, script.judge(1));
}

TEST(Patterns, SaysWhenItCannotJudge) {
  Script script;
  script.push(1, 0, 1);
  script.push(1, 2, 3);
  EXPECT_EQ(Pattern::kNotJudged, script.judge());
  Script pending;
  pending.add(OpKind::kPush, Outcome::kPending, 1, 0, kNever);
  EXPECT_EQ(Pattern::kNotJudged, pending.judge());
}

TEST(Patterns, SaysWhichOperationsShowIt) {
  Script script;
  script.push(1, 0, 1);
  script.push(2, 2, 3);
  script.pop(2, 4, 5);
  EXPECT_EQ(
      "order: pushed first, taken later or never\n"
      "  thread 0, 0 to 1: push(1) -> accepted\n"
      "  thread 0, 2 to 3: push(2) -> accepted\n"
      "  thread 0, 4 to 5: pop() -> 2",
      judge_by_patterns(script.history, kUnbounded).text);
}

}  // namespace
}  // namespace flare::sim
