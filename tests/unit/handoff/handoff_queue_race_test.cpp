// The queue between real threads; run under tsan too.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "flare/handoff/handoff_queue.h"

namespace flare::testing {
namespace {

using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t kProducers = 3;

std::int64_t token_of(std::int64_t producer, std::int64_t number) {
  return producer << 32 | number;
}

// proves: C-QUEUE-02, C-QUEUE-06, INV-01, INV-02
TEST(HandoffQueueRace, TokensOfOneProducerLeaveInOrderAndNoneIsLostOrDoubled) {
  struct Run {
    int capacity;
    std::int64_t per_producer;  // a full queue costs a switch of threads, which on a busy machine takes milliseconds
  };
  for (const auto& [capacity, per_producer] : {Run{1, 200}, Run{3, 600}, Run{64, 4000}}) {
    const std::int64_t tokens = kProducers * per_producer;
    HandoffQueue queue(capacity);
    // Plain memory, ordered by the queue alone: tsan sees a push that does not publish.
    std::vector<std::int64_t> written(static_cast<std::size_t>(tokens), -1);
    std::vector<std::thread> producers;
    std::atomic<std::uint64_t> refused{0};
    for (std::int64_t producer = 0; producer < kProducers; ++producer) {
      producers.emplace_back([&queue, &written, &refused, producer, count = per_producer] {
        for (std::int64_t number = 0; number < count; ++number) {
          written[static_cast<std::size_t>(producer * count + number)] = number;
          while (!queue.push(token_of(producer, number))) {
            refused.fetch_add(1);
            std::this_thread::yield();
          }
        }
      });
    }
    std::vector<std::int64_t> next(kProducers, 0);
    std::int64_t out_of_order = 0;
    std::size_t most_at_once = 0;
    Tokens batch;
    for (std::int64_t received = 0, turn = 0; received < tokens; ++turn) {
      batch.clear();
      if (turn % 2 == 0) {
        queue.drain(batch);
      } else if (const auto token = queue.pop()) {
        batch.push_back(*token);
      }
      most_at_once = std::max(most_at_once, batch.size());
      for (const std::int64_t token : batch) {
        const std::int64_t producer = token >> 32;
        const std::int64_t number = token & 0xffff'ffff;
        if (next[static_cast<std::size_t>(producer)]++ != number) ++out_of_order;
        if (written[static_cast<std::size_t>(producer * per_producer + number)] != number) ++out_of_order;
      }
      received += static_cast<std::int64_t>(batch.size());
      if (batch.empty()) std::this_thread::yield();
    }
    for (std::thread& producer : producers) producer.join();
    EXPECT_EQ(0, out_of_order);
    EXPECT_LE(most_at_once, static_cast<std::size_t>(capacity));
    EXPECT_EQ(0U, queue.size());
    EXPECT_EQ(static_cast<std::uint64_t>(tokens), queue.pushes());
    EXPECT_EQ(queue.pushes(), queue.pops());
    EXPECT_EQ(refused.load(), queue.refused());
  }
}

// Two on the last slot: asked under one hold of the lock and taken under another, both would get it.
// proves: C-QUEUE-01, INV-02
TEST(HandoffQueueRace, OfTwoProducersOnTheLastSlotOneIsRefused) {
  int wrong = 0;
  HandoffQueue queue(1);
  std::atomic<int> round{0};
  std::atomic<int> accepted{0};
  std::atomic<int> done{0};
  constexpr int kRounds = 2000;
  std::vector<std::thread> producers;
  for (int producer = 0; producer < 2; ++producer) {
    producers.emplace_back([&] {
      for (int mine = 1; mine <= kRounds; ++mine) {
        while (round.load() < mine) std::this_thread::yield();
        if (queue.push(mine)) accepted.fetch_add(1);
        done.fetch_add(1);
      }
    });
  }
  for (int current = 1; current <= kRounds; ++current) {
    round.store(current);
    while (done.load() < 2 * current) std::this_thread::yield();
    if (accepted.exchange(0) != 1 || queue.drain().size() != 1) ++wrong;
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(0, wrong);
}

// proves: C-QUEUE-05, INV-07
TEST(HandoffQueueRace, APushThatRacesACloseIsEitherTakenByOneCloserOrRefused) {
  for (int round = 0; round < 300; ++round) {
    HandoffQueue queue(8);
    std::vector<Tokens> taken(3);  // two closers, one of which pops, and the owner
    std::vector<Tokens> kept(2);
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (std::size_t side = 0; side < 2; ++side) {
      threads.emplace_back([&, side] {
        while (!go.load()) std::this_thread::yield();
        for (std::int64_t number = 0; number < 6; ++number) {
          const std::int64_t token = token_of(static_cast<std::int64_t>(side), number);
          if (!queue.push(token)) kept[side].push_back(token);
        }
      });
      threads.emplace_back([&, side] {
        while (!go.load()) std::this_thread::yield();
        if (side == 0) {
          taken[side] = queue.close_and_drain();
          return;
        }
        queue.close();
        while (const std::optional<std::int64_t> token = queue.pop()) taken[side].push_back(*token);
      });
    }
    go.store(true);
    for (int turn = 0; turn < 3; ++turn) {
      for (const std::int64_t token : queue.drain()) taken[2].push_back(token);
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Tokens{}, queue.drain());
    std::multiset<std::int64_t> all;
    for (const Tokens& tokens : taken) all.insert(tokens.begin(), tokens.end());
    for (const Tokens& tokens : kept) all.insert(tokens.begin(), tokens.end());
    EXPECT_EQ(12U, all.size());
    for (std::int64_t side = 0; side < 2; ++side) {
      for (std::int64_t number = 0; number < 6; ++number) EXPECT_EQ(1U, all.count(token_of(side, number)));
    }
    EXPECT_EQ(queue.pushes(), queue.pops());
  }
}

}  // namespace
}  // namespace flare::testing
