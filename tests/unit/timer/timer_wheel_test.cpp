#include "flare/timer/timer_wheel.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

namespace flare::testing {
namespace {

constexpr std::uint64_t kEndOfTime = std::numeric_limits<std::uint64_t>::max();
using Tokens = std::vector<std::uint64_t>;

Tokens advance(TimerWheel& wheel, std::uint64_t now_ms) {
  Tokens fired;
  const std::size_t count = wheel.advance(now_ms, [&fired](std::uint64_t token) { fired.push_back(token); });
  EXPECT_EQ(fired.size(), count);
  return fired;
}

// proves: C-TIMER-01, INV-19
TEST(TimerWheel, FiresAtItsDeadlineAndNotOneMillisecondEarlierAtEveryLevel) {
  for (const std::uint64_t start : {0ULL, 1ULL, 255ULL, 256ULL, 65'535ULL, 0x1234'5678'9abcULL}) {
    for (unsigned bit = 0; bit < 63; ++bit) {
      for (const std::uint64_t delay : {(1ULL << bit) - 1, 1ULL << bit, (1ULL << bit) + 1}) {
        if (delay == 0) continue;
        TimerWheel wheel(start);
        wheel.schedule(delay, 7);
        EXPECT_EQ(start + delay, wheel.next_deadline_ms());
        EXPECT_EQ(Tokens{}, advance(wheel, start + delay - 1)) << start << '+' << delay;
        EXPECT_EQ(start + delay, wheel.next_deadline_ms());
        EXPECT_EQ(Tokens{7}, advance(wheel, start + delay)) << start << '+' << delay;
        EXPECT_EQ(0U, wheel.pending());
      }
    }
  }
}

// Memory follows what is pending at once, not what was ever scheduled: the low half of an id is the entry's place.
// proves: C-TIMER-03
TEST(TimerWheel, ATimerThatFiredOrWasCancelledGivesItsEntryToTheNextOne) {
  TimerWheel wheel;
  std::set<std::uint32_t> places;
  std::set<std::uint64_t> ids;
  for (std::uint64_t turn = 1; turn <= 100; ++turn) {
    const TimerId kept = wheel.schedule_at(turn, 1);
    const TimerId cancelled = wheel.schedule_at(turn + 1000, 2);
    for (const TimerId id : {kept, cancelled}) {
      places.insert(static_cast<std::uint32_t>(id.value));
      ids.insert(id.value);
    }
    EXPECT_TRUE(wheel.cancel(cancelled));
    EXPECT_EQ(Tokens{1}, advance(wheel, turn));
  }
  EXPECT_EQ(2U, places.size());
  EXPECT_EQ(200U, ids.size());
}

// proves: C-TIMER-01, C-TIMER-02, INV-19
TEST(TimerWheel, AStallFiresEverythingThatCameDueInOrder) {
  TimerWheel wheel(1000);
  Tokens expected;
  for (std::uint64_t token = 0; token < 60; ++token) expected.push_back(token);
  for (std::uint64_t token = 60; token-- > 0;) wheel.schedule(1ULL << token, token);
  wheel.schedule(1ULL << 60, 60);
  EXPECT_EQ(expected, advance(wheel, 1000 + (1ULL << 60) - 1));
  EXPECT_EQ(1U, wheel.pending());
}

// proves: C-TIMER-02
TEST(TimerWheel, EqualDeadlinesFireInTheOrderOfSchedulingAlsoWhenTimePassedBetween) {
  TimerWheel wheel;
  wheel.schedule_at(70'000, 1);
  wheel.advance(40'000, [](std::uint64_t) {});
  wheel.schedule_at(70'000, 2);
  wheel.advance(69'999, [](std::uint64_t) {});
  wheel.schedule_at(70'000, 3);
  EXPECT_EQ((Tokens{1, 2, 3}), advance(wheel, 70'000));
}

// proves: C-TIMER-02
TEST(TimerWheel, OverdueTimersFireByDeadlineToo) {
  TimerWheel wheel(100);
  wheel.schedule_at(50, 2);
  wheel.schedule_at(100, 4);
  wheel.schedule_at(10, 1);
  wheel.schedule_at(50, 3);
  wheel.schedule_at(101, 5);
  EXPECT_EQ(10U, wheel.next_deadline_ms());
  EXPECT_EQ((Tokens{1, 2, 3, 4, 5}), advance(wheel, 200));
}

// The loop never came back to its I/O: a zero-delay timer that re-arms itself was picked up by the pass that ran it.
// proves: C-TIMER-04
TEST(TimerWheel, WhatACallbackSchedulesForNowOrThePastFiresInTheNextAdvance) {
  TimerWheel wheel(10);
  int runs = 0;
  const auto rearm = [&](std::uint64_t token) {
    if (++runs > 10) return;  // a pass that runs what it scheduled would never end
    wheel.schedule_at(token == 1 ? 3 : wheel.next_deadline_ms().value_or(20), token);
    wheel.schedule(0, 2);
  };
  wheel.schedule(5, 1);
  EXPECT_EQ(1U, wheel.advance(20, rearm));
  EXPECT_EQ(1, runs);
  EXPECT_EQ(2U, wheel.pending());
  EXPECT_EQ(2U, wheel.advance(20, rearm));
}

// proves: C-TIMER-04
TEST(TimerWheel, WhatACallbackSchedulesBetweenItsDeadlineAndALateNowWaitsForTheNextAdvance) {
  TimerWheel wheel;
  wheel.schedule_at(5, 1);
  wheel.schedule_at(90, 2);
  Tokens fired;
  wheel.advance(100, [&](std::uint64_t token) {
    fired.push_back(token);
    if (token == 1) wheel.schedule_at(50, 3);
  });
  EXPECT_EQ((Tokens{1, 2}), fired);
  EXPECT_EQ(50U, wheel.next_deadline_ms());
  EXPECT_EQ((Tokens{3}), advance(wheel, 100));
}

// Timers that were already collected for the tick ran although an earlier callback had cancelled them.
// proves: C-TIMER-03, C-TIMER-04
TEST(TimerWheel, WhatAnEarlierCallbackCancelsDoesNotFireInTheSamePass) {
  TimerWheel wheel;
  std::vector<TimerId> ids;
  for (std::uint64_t token = 0; token < 3; ++token) ids.push_back(wheel.schedule(5, token));
  ids.push_back(wheel.schedule(6, 3));
  Tokens fired;
  std::vector<bool> cancelled;
  wheel.advance(10, [&](std::uint64_t token) {
    fired.push_back(token);
    for (const TimerId id : ids) cancelled.push_back(wheel.cancel(id));
  });
  EXPECT_EQ(Tokens{0}, fired);
  EXPECT_EQ((std::vector<bool>{false, true, true, true}), cancelled);  // its own timer has fired
  EXPECT_EQ(0U, wheel.pending());
  EXPECT_EQ(std::nullopt, wheel.next_deadline_ms());
}

// proves: C-TIMER-03
TEST(TimerWheel, CancelIsTrueOnceAndFalseForFiredUnknownAndStaleIds) {
  TimerWheel wheel;
  const TimerId first = wheel.schedule(5, 1);
  EXPECT_TRUE(wheel.cancel(first));
  EXPECT_FALSE(wheel.cancel(first));
  const TimerId second = wheel.schedule(5, 2);  // takes the memory of the first
  EXPECT_FALSE(wheel.cancel(first));
  EXPECT_EQ(Tokens{2}, advance(wheel, 5));
  EXPECT_FALSE(wheel.cancel(second));
  EXPECT_FALSE(wheel.cancel(TimerId{}));
  EXPECT_FALSE(wheel.cancel(TimerId{kEndOfTime}));
  EXPECT_FALSE(wheel.cancel(TimerId{second.value + 1}));
}

// proves: C-TIMER-03
TEST(TimerWheel, NeverGivesAnIdTwice) {
  TimerWheel wheel;
  std::set<std::uint64_t> seen{TimerId{}.value};
  for (std::uint64_t round = 0; round < 10'000; ++round) {
    const TimerId kept = wheel.schedule(1, round);
    const TimerId cancelled = wheel.schedule(1, round);
    EXPECT_TRUE(seen.insert(kept.value).second);
    EXPECT_TRUE(seen.insert(cancelled.value).second);
    wheel.cancel(cancelled);
    wheel.advance(round + 1, [](std::uint64_t) {});
  }
}

// proves: C-TIMER-06
TEST(TimerWheel, ExtremeDelaysSaturateAtTheEndOfTimeAndCanBeCancelled) {
  TimerWheel wheel(1000);
  const TimerId never = wheel.schedule(kEndOfTime, 1);
  wheel.schedule(kEndOfTime - 1000, 2);
  wheel.schedule(kEndOfTime - 1001, 3);
  EXPECT_EQ(kEndOfTime - 1, wheel.next_deadline_ms());
  EXPECT_EQ(Tokens{}, advance(wheel, kEndOfTime - 2));
  EXPECT_EQ(Tokens{3}, advance(wheel, kEndOfTime - 1));
  EXPECT_EQ(kEndOfTime, wheel.next_deadline_ms());
  EXPECT_TRUE(wheel.cancel(never));
  EXPECT_EQ(Tokens{2}, advance(wheel, kEndOfTime));
  wheel.schedule(5, 4);
  EXPECT_EQ(Tokens{4}, advance(wheel, kEndOfTime));
}

TEST(TimerWheel, TimeThatGoesBackwardsIsIgnored) {
  TimerWheel wheel(1000);
  wheel.schedule_at(1500, 1);
  wheel.advance(1200, [](std::uint64_t) {});
  EXPECT_EQ(Tokens{}, advance(wheel, 10));
  wheel.schedule(100, 2);  // from 1200
  EXPECT_EQ(1300U, wheel.next_deadline_ms());
  EXPECT_EQ((Tokens{2, 1}), advance(wheel, 1500));
}

TEST(TimerWheel, ACallbackThatThrowsLeavesTheRestOfThePassForTheNextAdvance) {
  TimerWheel wheel;
  for (std::uint64_t token = 1; token <= 3; ++token) wheel.schedule(token, token);
  const auto fails = [](std::uint64_t) { throw std::runtime_error("callback"); };
  EXPECT_THROW(wheel.advance(10, fails), std::runtime_error);
  EXPECT_EQ(2U, wheel.pending());
  EXPECT_EQ(2U, wheel.next_deadline_ms());
  wheel.schedule_at(1, 4);  // earlier than what is left
  wheel.schedule_at(2, 5);
  EXPECT_EQ((Tokens{4, 2, 5, 3}), advance(wheel, 10));
}

}  // namespace
}  // namespace flare::testing
