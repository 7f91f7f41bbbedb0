// The production queue between real threads: what they did to it is judged as a whole. Run under tsan too.
#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "broken_queue.h"
#include "engine/sanitizers.h"
#include "flare/handoff/handoff_queue.h"
#include "history/patterns.h"
#include "history/recorder.h"
#include "history/windows.h"
#include "random_history.h"
#include "support/random_seed.h"

namespace flare::sim {
namespace {

constexpr unsigned kProducers = 3;
constexpr unsigned kThreads = 5;  // the others consume
constexpr int kCapacity = 64;
#ifdef FLARE_SIM_TSAN
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif
constexpr std::size_t kOperations = kSlow ? 40'000 : 210'000;  // of each thread; under tsan one takes 10 times as long
constexpr std::size_t kBrokenOperations = 5'000;
constexpr std::size_t kStretch = 100;  // operations of each thread between two barriers
// Rounds end at a barrier: there nothing runs, and the history can be cut.
constexpr int kSmallCapacity = 3;
constexpr std::size_t kOfRound = 4;  // operations of each thread
constexpr unsigned kRounds = 40;     // with one queue
constexpr unsigned kRuns = 30;

using Log = ThreadLog<SharedCounter>;

// One thread of a run. Of pauses operations one lets others run before and one after its step, while it counts as
// running: operations overlap even where a thread seldom loses its processor.
template <class Queue>
class Actor {
 public:
  Actor(Queue& queue, Log& log, unsigned thread, std::uint64_t seed, unsigned pauses)
      : queue_(queue), log_(log), thread_(thread), random_(seed + thread), pauses_(pauses) {}

  void act() { thread_ < kProducers ? produce() : consume(); }
  void close() {
    log_.close([&] { return during([&] { return queue_.close_and_drain(); }); });
  }

 private:
  void produce() {
    const auto value = static_cast<std::int64_t>(log_.operations() * kThreads + thread_);
    if (!log_.push(value, [&] { return during([&] { return queue_.push(value); }); })) wait();
  }
  void consume() {
    const unsigned dice = random_.below(32);
    if (dice == 0) {
      log_.drain([&] { return during([&] { return queue_.drain(); }); });
    } else if (dice == 1) {
      log_.size([&] { return during([&] { return queue_.size(); }); });
    } else if (!log_.pop([&] { return during([&] { return queue_.pop(); }); })) {
      wait();
    }
  }
  // Full or empty. Seldom: a yield costs a whole slice of time on a busy machine.
  void wait() {
    if (one_in(random_, 8)) std::this_thread::yield();
  }
  template <class Step>
  auto during(Step&& step) {
    if (one_in(random_, pauses_)) std::this_thread::yield();
    auto result = step();
    if (one_in(random_, pauses_)) std::this_thread::yield();
    return result;
  }

  Queue& queue_;
  Log& log_;
  unsigned thread_;
  Random random_;
  unsigned pauses_;
};

void run_threads(const std::function<void(unsigned)>& body) {
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) threads.emplace_back(body, thread);
  for (std::thread& thread : threads) thread.join();
}

// All threads at once, each so many operations; then a close. Now and then they wait for each other: no thread is done
// before others have begun, so the queue is both filled and emptied again and again.
template <class Queue>
LongHistory one_long_run(Queue& queue, std::size_t operations, std::uint64_t seed) {
  SharedCounter clock;
  Recorder<> recorder(clock, kThreads + 1, operations);
  std::barrier<> barrier(kThreads);
  run_threads([&](unsigned thread) {
    Actor actor(queue, recorder.log(thread), thread, seed, 256);
    for (std::size_t i = 0; i < operations; ++i) {
      if (i % kStretch == 0) barrier.arrive_and_wait();
      actor.act();
    }
  });
  recorder.log(kThreads).close([&] { return queue.close_and_drain(); });
  return recorder.merge();
}

// Rounds of a few operations. In the middle two consumers close the queue while the others go on.
template <class Queue>
LongHistory one_run_in_rounds(Queue& queue, std::uint64_t seed) {
  SharedCounter clock;
  Recorder<> recorder(clock, kThreads, kRounds * kOfRound + 1);
  std::barrier<> barrier(kThreads);
  run_threads([&](unsigned thread) {
    Actor actor(queue, recorder.log(thread), thread, seed, 2);
    for (unsigned round = 0; round < kRounds; ++round) {
      barrier.arrive_and_wait();
      if (round == kRounds * 9 / 10 && thread >= kProducers) actor.close();
      for (std::size_t i = 0; i < kOfRound; ++i) actor.act();
    }
  });
  return recorder.merge();
}

struct Counts {
  std::size_t accepted = 0, refused = 0, taken = 0, empty = 0;
};

Counts counts_of(const LongHistory& history) {
  Counts counts;
  for (const Operation& each : history.operations) {
    if (each.kind == OpKind::kPush) ++(each.outcome == Outcome::kOk ? counts.accepted : counts.refused);
    if (each.kind == OpKind::kPop) ++(each.outcome == Outcome::kOk ? counts.taken : counts.empty);
    counts.taken += each.list_size;
  }
  return counts;
}

// proves: C-QUEUE-02, C-QUEUE-03, INV-01, INV-02
TEST(RealQueue, AMillionOperationsShowNoPattern) {
  const std::uint64_t seed = testing::random_seed("stress_history", "RealQueue.AMillion*");
  HandoffQueue queue(kCapacity);
  const LongHistory history = one_long_run(queue, kOperations, seed);
  const Counts counts = counts_of(history);
  std::printf("%zu operations: %zu accepted, %zu refused, %zu taken, %zu times nothing\n", history.operations.size(),
              counts.accepted, counts.refused, counts.taken, counts.empty);
  EXPECT_GE(history.operations.size(), kSlow ? 200'000U : 1'000'000U);
  const PatternVerdict verdict = judge_by_patterns(history, kCapacity);
  EXPECT_TRUE(verdict.ok()) << verdict.text;
  EXPECT_EQ(counts.accepted, counts.taken);
  EXPECT_EQ(counts.accepted, queue.pushes());
  EXPECT_EQ(counts.refused, queue.refused());
  EXPECT_GT(counts.accepted, 0U);
}

// proves: C-QUEUE-02, C-QUEUE-05, INV-01, INV-02
TEST(RealQueue, RoundsAreLinearizableExactly) {
  const std::uint64_t seed = testing::random_seed("stress_history", "RealQueue.Rounds*");
  WindowVerdict sum;
  for (unsigned run = 0; run < kRuns; ++run) {
    HandoffQueue queue(kSmallCapacity);
    const WindowVerdict verdict = judge_windows(one_run_in_rounds(queue, seed + run), kSmallCapacity);
    ASSERT_TRUE(verdict.ok) << verdict.text;
    EXPECT_EQ(0U, verdict.too_hard);
    sum.judged += verdict.judged;
    sum.operations += verdict.operations;
  }
  std::printf("%zu operations in %zu windows\n", sum.operations, sum.judged);
  EXPECT_GE(sum.judged, kRuns * kRounds);
  EXPECT_LT(sum.judged, sum.operations);  // some did overlap
}

TEST(RealQueue, EveryBrokenQueueShowsItsPattern) {
  const std::uint64_t seed = testing::random_seed("stress_history", "RealQueue.EveryBrokenQueueS*");
  const std::pair<Defect, Pattern> cases[] = {{Defect::kNewest, Pattern::kOrder},
                                              {Defect::kDrop, Pattern::kOrder},
                                              {Defect::kTwice, Pattern::kRepeat},
                                              {Defect::kRefusal, Pattern::kFull},
                                              {Defect::kBlind, Pattern::kWitness}};
  for (const auto& [defect, pattern] : cases) {
    BrokenQueue queue(kCapacity, defect, 100);
    const LongHistory history = one_long_run(queue, kBrokenOperations, seed);
    ASSERT_GT(queue.failures(), 0U) << static_cast<int>(defect);
    const PatternVerdict verdict = judge_by_patterns(history, kCapacity);
    EXPECT_EQ(pattern, verdict.pattern) << static_cast<int>(defect) << ": " << verdict.text;
  }
}

TEST(RealQueue, EveryBrokenQueueIsRejectedInRounds) {
  const std::uint64_t seed = testing::random_seed("stress_history", "RealQueue.EveryBrokenQueueIs*");
  for (const Defect defect : {Defect::kNewest, Defect::kDrop, Defect::kTwice, Defect::kRefusal, Defect::kBlind}) {
    bool rejected = false;
    for (unsigned run = 0; run < kRuns && !rejected; ++run) {
      BrokenQueue queue(kSmallCapacity, defect, 3);
      rejected = !judge_windows(one_run_in_rounds(queue, seed + run), kSmallCapacity).ok;
    }
    EXPECT_TRUE(rejected) << static_cast<int>(defect);
  }
}

}  // namespace
}  // namespace flare::sim
