// The product's queue under every interleaving.
#include <gtest/gtest.h>

#include "engine/explorer.h"
#include "flare/handoff/handoff_queue.h"

namespace flare::sim {
namespace {

Scenario two_producers(int capacity) {
  Scenario scenario;
  scenario.name = "queue.two_producers." + std::to_string(capacity);
  scenario.body = [capacity] {
    HandoffQueue queue(capacity);
    int accepted[2] = {0, 0};
    Thread producers[2];
    for (int p = 0; p < 2; ++p) {
      producers[p] = Thread::start([&queue, &accepted, p] {
                       for (int i = 0; i < 4; ++i) accepted[p] += queue.push(p * 10 + i) ? 1 : 0;
                     }).value();
    }
    int popped = 0;
    for (int i = 0; i < 4; ++i) popped += queue.pop().has_value() ? 1 : 0;
    for (Thread& one : producers) one.join();
    popped += static_cast<int>(queue.drain().size());
    Schedule::current()->require(popped == accepted[0] + accepted[1], "conservation", "tokens were lost or invented");
  };
  return scenario;
}

TEST(SimQueue, TwoProducers) {
  for (const int capacity : {1, 2, 3}) {
    Explorer explorer(two_producers(capacity));
    Budget budget;
    budget.preemptions = 2;
    const Exploration all = explorer.enumerate(budget);
    EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
    std::printf("%d: %llu schedules, %u steps, %u points, learned %d\n", capacity,
                static_cast<unsigned long long>(all.schedules), all.most_steps, all.most_points, all.learned);
  }
}

}  // namespace
}  // namespace flare::sim
