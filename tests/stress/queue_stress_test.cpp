// Millions of operations on one queue: what the thread sanitizer must stay silent about, and what may not be lost.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <vector>

#include "flare/handoff/handoff_queue.h"
#include "stress.h"
#include "support/number_from.h"

namespace flare::testing {
namespace {

constexpr std::uint64_t kOperations = 1'000'000;  // ci/run.sh asks for more under tsan
constexpr int kCapacity = 64;
// Plain memory that the queue alone orders: entry n is written before token n is pushed and read after it was taken.
// Of a producer kCapacity tokens at most are on their way, and as many in the hands of the consumer.
constexpr std::size_t kWritten = 4 * kCapacity;

struct Producer {
  std::array<std::int64_t, kWritten> written{};
  std::int64_t pushed = 0;
  std::uint64_t refused = 0;
  std::int64_t next = 0;  // the consumer's: what must come next
};

class Rush {
 public:
  Rush(int producers, std::uint64_t operations, std::uint64_t seed)
      : producers_(static_cast<std::size_t>(producers)), left_(static_cast<std::int64_t>(operations)), seed_(seed) {}

  // The consumer closes the queue while the producers still push; what is then taken or refused is all there was.
  void go() {
    run_together(static_cast<int>(producers_.size()) + 1, [this](int thread) {
      Dice dice(seed_, static_cast<std::uint64_t>(thread));
      thread == 0 ? consume(dice) : produce(producers_[static_cast<std::size_t>(thread - 1)], thread - 1, dice);
    });
    std::uint64_t pushed = 0;
    std::uint64_t refused = 0;
    for (const Producer& one : producers_) {
      pushed += static_cast<std::uint64_t>(one.pushed);
      refused += one.refused;
      EXPECT_EQ(one.pushed, one.next) << "a token was lost";
    }
    EXPECT_EQ(0, wrong_);
    EXPECT_EQ(pushed, queue_.pushes());
    EXPECT_EQ(pushed, queue_.pops());
    EXPECT_EQ(refused, queue_.refused());
    EXPECT_GT(pushed, 0U);
    EXPECT_GT(refused, 0U) << "the queue was never full";
    EXPECT_LE(most_at_once_, static_cast<std::size_t>(kCapacity));
  }

 private:
  void produce(Producer& self, int number, Dice& dice) {
    while (!closed_.load(std::memory_order_relaxed)) {
      self.written[static_cast<std::size_t>(self.pushed) % kWritten] = self.pushed;
      dice.delay();
      if (queue_.push(std::int64_t{number} << 40 | self.pushed)) {
        ++self.pushed;
      } else {
        ++self.refused;
        std::this_thread::yield();
      }
      left_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  void consume(Dice& dice) {
    std::vector<std::int64_t> batch;
    while (left_.load(std::memory_order_relaxed) > 0) {
      batch.clear();
      if (dice.one_in(4)) {
        queue_.drain(batch);
      } else if (const auto token = queue_.pop()) {
        batch.push_back(*token);
      }
      if (dice.one_in(16)) most_at_once_ = std::max(most_at_once_, queue_.size());
      most_at_once_ = std::max(most_at_once_, batch.size());
      take(batch);
      left_.fetch_sub(1, std::memory_order_relaxed);
      if (batch.empty()) std::this_thread::yield();
      dice.delay();
    }
    take(queue_.close_and_drain());
    closed_.store(true, std::memory_order_relaxed);
  }
  void take(const std::vector<std::int64_t>& tokens) {
    for (const std::int64_t token : tokens) {
      Producer& from = producers_[static_cast<std::size_t>(token >> 40)];
      const std::int64_t number = token & ((std::int64_t{1} << 40) - 1);
      if (from.next++ != number || from.written[static_cast<std::size_t>(number) % kWritten] != number) ++wrong_;
    }
  }

  HandoffQueue queue_{kCapacity};
  std::vector<Producer> producers_;
  // Relaxed, both: they order nothing, so that no race of the queue hides behind them.
  std::atomic<std::int64_t> left_;
  std::atomic<bool> closed_{false};
  std::uint64_t seed_;
  std::size_t most_at_once_ = 0;
  int wrong_ = 0;
};

// proves: C-QUEUE-02, C-QUEUE-05, C-QUEUE-06, INV-01, INV-02
TEST(QueueStress, MillionsOfOperationsWithOneToEightProducersLoseNothing) {
  const std::uint64_t seed = random_seed("stress_runtime", "QueueStress.*");
  const std::uint64_t operations = number_from("FLARE_STRESS_OPERATIONS", kOperations);
  for (const int producers : {1, 2, 4, 8}) Rush(producers, operations / 4, seed).go();
  std::printf("%llu operations\n", static_cast<unsigned long long>(operations));
}

}  // namespace
}  // namespace flare::testing
