#include "flare/handoff/handoff_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "flare/base/network_error.h"

namespace flare::testing {
namespace {

using Tokens = std::vector<std::int64_t>;

// proves: C-QUEUE-01
TEST(HandoffQueue, AcceptsExactlyItsCapacityAndRefusesTheNext) {
  for (const int capacity : {1, 2, 3, 64}) {
    HandoffQueue queue(capacity);
    for (int token = 0; token < capacity; ++token) EXPECT_TRUE(queue.push(token)) << capacity;
    EXPECT_FALSE(queue.push(99)) << capacity;
    EXPECT_EQ(static_cast<std::size_t>(capacity), queue.size());
    EXPECT_EQ(1U, queue.refused());
  }
  EXPECT_EQ(64U, HandoffQueue().capacity());
}

// proves: C-QUEUE-01
TEST(HandoffQueue, CapacityZeroRefusesEverything) {
  HandoffQueue queue(0);
  EXPECT_FALSE(queue.push(1));
  EXPECT_EQ(std::nullopt, queue.pop());
  EXPECT_EQ(Tokens{}, queue.drain());
  EXPECT_EQ(0U, queue.pushes());
  EXPECT_EQ(1U, queue.refused());
}

// proves: C-QUEUE-01
TEST(HandoffQueue, ANegativeCapacityThrowsWithTheValue) {
  try {
    const HandoffQueue queue(-5);
    FAIL() << "a negative capacity was accepted";
  } catch (const NetworkError& error) {
    EXPECT_EQ(EINVAL, error.code().value());
    EXPECT_NE(std::string::npos, std::string(error.what()).find("-5")) << error.what();
  }
}

// proves: C-QUEUE-04
TEST(HandoffQueue, DrainIntoABufferReusesItsMemory) {
  HandoffQueue queue(8);
  Tokens buffer;
  buffer.reserve(8);
  const std::int64_t* memory = buffer.data();
  for (int round = 0; round < 5; ++round) {
    for (int token = 0; token < 8; ++token) queue.push(token);
    queue.drain(buffer);
    EXPECT_EQ((Tokens{0, 1, 2, 3, 4, 5, 6, 7}), buffer);
    EXPECT_EQ(memory, buffer.data());
  }
  queue.drain(buffer);
  EXPECT_EQ(Tokens{}, buffer);
}

// proves: C-QUEUE-05
TEST(HandoffQueue, CloseAndDrainGivesTheTokensOnceAndRefusesEveryLaterPush) {
  HandoffQueue queue(4);
  queue.push(1);
  queue.push(2);
  EXPECT_FALSE(queue.is_closed());
  EXPECT_EQ((Tokens{1, 2}), queue.close_and_drain());
  EXPECT_TRUE(queue.is_closed());
  EXPECT_EQ(Tokens{}, queue.close_and_drain());
  EXPECT_FALSE(queue.push(3));
  EXPECT_EQ(std::nullopt, queue.pop());
  EXPECT_EQ(2U, queue.pops());
}

// proves: C-QUEUE-05
TEST(HandoffQueue, CloseRefusesEveryLaterPushAndLeavesTheTokensToBePopped) {
  HandoffQueue queue(4);
  queue.push(1);
  queue.push(2);
  queue.close();
  EXPECT_TRUE(queue.is_closed());
  EXPECT_FALSE(queue.push(3));
  EXPECT_EQ(1, queue.pop());
  queue.close();
  EXPECT_EQ(2, queue.pop());
  EXPECT_EQ(std::nullopt, queue.pop());
  EXPECT_EQ(1U, queue.refused());
}

TEST(HandoffQueue, AMoveTakesTokensAndCountersAndLeavesAClosedEmptyQueue) {
  HandoffQueue source(3);
  for (int token = 1; token <= 4; ++token) source.push(token);
  HandoffQueue target(std::move(source));
  for (HandoffQueue* left : {&source}) {
    EXPECT_EQ(0U, left->capacity());
    EXPECT_EQ(0U, left->size());
    EXPECT_TRUE(left->is_closed());
    EXPECT_FALSE(left->push(9));
    EXPECT_EQ(0U, left->pushes());
    EXPECT_EQ(std::nullopt, left->pop());
  }
  EXPECT_EQ(3U, target.pushes());
  EXPECT_EQ(1U, target.refused());
  HandoffQueue assigned(1);
  assigned = std::move(target);
  EXPECT_EQ((Tokens{1, 2, 3}), assigned.drain());
  EXPECT_TRUE(assigned.push(5));
}

TEST(HandoffQueueDeathTest, OverwritingAQueueThatHoldsTokensAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  HandoffQueue queue(1);
  queue.push(1);
  EXPECT_DEATH(queue = HandoffQueue(1), "would leak");
}

TEST(HandoffQueue, ARefusedAdmissionChangesNothingButTheCount) {
  HandoffQueue queue(2);
  queue.push(1);
  std::uint32_t seen = 99;
  EXPECT_FALSE(queue.push_if(2, [&seen](std::uint32_t count) {
    seen = count;
    return false;
  }));
  EXPECT_EQ(1U, seen);
  EXPECT_EQ(1U, queue.refused());
  EXPECT_EQ(Tokens{1}, queue.drain());
}

TEST(HandoffQueue, OnTakenRunsWhileTheSizeStillCountsTheTokens) {
  HandoffQueue queue(4);
  queue.push(1);
  queue.push(2);
  Tokens out;
  std::size_t size_inside = 0;
  std::uint32_t taken = 0;
  queue.drain_with(out, [&](std::uint32_t count) {
    taken = count;
    size_inside = queue.size();
  });
  EXPECT_EQ(2U, taken);
  EXPECT_EQ(2U, size_inside);
}

// The lock, the indices and the count share the first line; what is rarely touched follows on the second.
TEST(HandoffQueue, FitsInTwoCacheLines) {
  EXPECT_EQ(64U, alignof(HandoffQueue));
  EXPECT_EQ(128U, sizeof(HandoffQueue));
}

struct Step {
  int kind;
  std::int64_t token;
};

void showValue(const Step& step, std::ostream& out) {
  out << "{" << step.kind << ", " << step.token << "}";
}

// The queue and what it should be: a bounded list and four numbers.
class Pair {
 public:
  explicit Pair(int capacity) : queue_(capacity), capacity_(static_cast<std::size_t>(capacity)) {}

  void run(const Step& step) {
    if (step.kind <= 5) {
      push(step.token);
    } else if (step.kind <= 8) {
      pop();
    } else if (step.kind == 9) {
      RC_ASSERT(queue_.drain() == take_all());
    } else if (step.kind == 10) {
      queue_.drain(buffer_);
      RC_ASSERT(buffer_ == take_all());
    } else if (step.kind == 11) {
      move();
    } else if (step.token % 4 == 0) {  // rarely: nothing happens in a closed queue
      RC_ASSERT(queue_.close_and_drain() == take_all());
      closed_ = true;
    }
    compare();
  }

 private:
  void push(std::int64_t token) {
    const bool accepted = !closed_ && list_.size() < capacity_;
    RC_ASSERT(queue_.push(token) == accepted);
    if (accepted) {
      list_.push_back(token);
      ++pushes_;
    } else {
      ++refused_;
    }
  }
  void pop() {
    const std::optional<std::int64_t> token = queue_.pop();
    RC_ASSERT(token.has_value() == !list_.empty());
    if (!token) return;
    RC_ASSERT(*token == list_.front());
    list_.pop_front();
    ++pops_;
  }
  Tokens take_all() {
    Tokens all(list_.begin(), list_.end());
    list_.clear();
    pops_ += all.size();
    return all;
  }
  void move() {
    HandoffQueue other(std::move(queue_));
    queue_ = std::move(other);
  }
  void compare() const {
    RC_ASSERT(queue_.size() == list_.size());
    RC_ASSERT(queue_.capacity() == capacity_);
    RC_ASSERT(queue_.is_closed() == closed_);
    RC_ASSERT(queue_.pushes() == pushes_);
    RC_ASSERT(queue_.pops() == pops_);
    RC_ASSERT(queue_.refused() == refused_);
    RC_ASSERT(queue_.pushes() - queue_.pops() == queue_.size());
  }

  HandoffQueue queue_;
  std::size_t capacity_;
  std::deque<std::int64_t> list_;
  Tokens buffer_;
  bool closed_ = false;
  std::uint64_t pushes_ = 0;
  std::uint64_t pops_ = 0;
  std::uint64_t refused_ = 0;
};

// proves: C-QUEUE-02, C-QUEUE-03, C-QUEUE-04, INV-01, INV-02, INV-03
RC_GTEST_PROP(HandoffQueueProperty, BehavesLikeABoundedList, ()) {
  Pair pair(*rc::gen::element(0, 1, 2, 3, 64));
  // Full 64 bit tokens: a packed (generation, fd) must come out whole.
  const auto token =
      rc::gen::map(rc::gen::pair(rc::gen::arbitrary<std::uint32_t>(), rc::gen::arbitrary<std::uint32_t>()),
                   [](const std::pair<std::uint32_t, std::uint32_t>& halves) {
                     return static_cast<std::int64_t>(std::uint64_t{halves.first} << 32 | halves.second);
                   });
  const auto steps = *rc::gen::scale(
      4.0, rc::gen::container<std::vector<Step>>(rc::gen::construct<Step>(rc::gen::inRange(0, 13), token)));
  for (const Step& step : steps) pair.run(step);
}

// proves: C-QUEUE-04
TEST(HandoffQueue, CarriesTheExtremesOfATokenWhole) {
  HandoffQueue queue(4);
  const Tokens tokens{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), -1,
                      0x0123'4567'89ab'cdef};
  for (const std::int64_t token : tokens) EXPECT_TRUE(queue.push(token));
  EXPECT_EQ(tokens, queue.drain());
}

}  // namespace
}  // namespace flare::testing
