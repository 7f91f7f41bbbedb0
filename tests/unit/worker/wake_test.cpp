// Every wake must come by itself: these servers have no poll cap, so a wake that is lost is a client that never hears.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "hook_frontend.h"

namespace flare::testing {
namespace {

// proves: C-SERVE-01, C-SERVE-03, C-POOL-09, INV-06, INV-20
TEST(Wake, AConnectionPushedToASleepingWorkerIsServed) {
  Hooks hooks;
  auto server = serve(hooks, 4, uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(true, 64, 1)));
  std::uint64_t moved = 0;
  std::vector<LineClient> clients;
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(await_idle(server));
    clients.emplace_back(server.addresses().front());
    const Place place = who(clients.back());
    ASSERT_GE(place.served, 0) << "client " << i << " was never answered";
    moved += place.served != place.accepted ? 1 : 0;
    // Without a wake its donor takes it back in time and serves it. A machine that stands still for a second makes that
    // of one or two, too.
    ASSERT_LT(sum(server, &WorkerSnapshot::taken_back), 4U) << "client " << i;
    // The count comes after the push, perhaps late.
    ASSERT_TRUE(wait_until([&] {
      return sum(server, &WorkerSnapshot::wakes_sent) + sum(server, &WorkerSnapshot::wakes_skipped) >= moved;
    })) << "client "
        << i << " was handed over without a wake";
  }
  EXPECT_GT(moved, 0U);
  EXPECT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::handed_out) == moved; }));
  EXPECT_EQ(sum(server, &WorkerSnapshot::received), moved);
  EXPECT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::wakes_sent) >= 1; }));
}

// proves: C-SERVE-01
TEST(Wake, WithTheHandoffOffNoConnectionMoves) {
  Hooks hooks;
  auto server = serve(hooks, 4, uncapped(ListenerStrategy::kPerWorker));
  std::vector<LineClient> clients;
  for (int i = 0; i < 32; ++i) {
    clients.emplace_back(server.addresses().front());
    const Place place = who(clients.back());
    EXPECT_GE(place.served, 0);
    EXPECT_EQ(place.served, place.accepted);
  }
  EXPECT_EQ(sum(server, &WorkerSnapshot::handed_out), 0U);
}

// proves: C-STOP-04, C-STOP-05, INV-14, INV-20
TEST(Wake, StopAndDrainWakeSleepersThatNothingElseWouldWake) {
  for (const auto strategy : {ListenerStrategy::kPerWorker, ListenerStrategy::kShared}) {
    for (int round = 0; round < 10; ++round) {
      Hooks hooks;
      auto server = serve(hooks, 8, uncapped(strategy));
      LineClient idle(server.addresses().front());
      ASSERT_EQ(idle.ask("x"), "x");
      ASSERT_TRUE(await_idle(server));
      if (round % 3 == 0) {
        server.shutdown();
      } else if (round % 3 == 1) {
        EXPECT_TRUE(adds_up(server.drain(60'000)));
      } else {
        server.request_stop();
        server.wait();
        EXPECT_TRUE(adds_up(server.drain(60'000)));
      }
      EXPECT_FALSE(server.is_running());
      EXPECT_NE(idle.await_end(), StreamEnd::kOpen);
    }
  }
}

void storm(ListenerStrategy strategy, HandoffPolicy policy, int budget) {
  Hooks hooks;
  SchedulerOptions options = uncapped(strategy, policy);
  options.serving.accept_budget = budget;
  auto server = serve(hooks, 4, options);
  for (int round = 0; round < 16; ++round) {
    ASSERT_TRUE(await_idle(server));
    std::vector<LineClient> clients;
    for (int i = 0; i < 64; ++i) clients.emplace_back(server.addresses().front());
    for (LineClient& client : clients) ASSERT_TRUE(client.send("hello\n"));
    for (LineClient& client : clients) ASSERT_EQ(client.line(), "hello") << "round " << round;
    clients.clear();
    ASSERT_TRUE(await_no_connection(server));
  }
  const auto reports = server.drain(5000);
  EXPECT_TRUE(adds_up(reports));
  std::int64_t finished = 0;
  for (const ShutdownReport& report : reports) finished += report.finished;
  EXPECT_EQ(finished, 16 * 64);
}

// proves: C-SERVE-03, C-SERVE-04, C-ACCEPT-01, INV-04, INV-06, INV-17, INV-22
TEST(Wake, AStormAgainstSleepingWorkersIsAnswered) {
  storm(ListenerStrategy::kPerWorker, HandoffPolicy(true, 64, 1), 64);
  storm(ListenerStrategy::kShared, HandoffPolicy(true, 64, 1), 64);
  storm(ListenerStrategy::kShared, HandoffPolicy(), 64);
}

// proves: C-ACCEPT-01, INV-17
TEST(Budget, ASmallOneServesEveryClientOfAStorm) {
  for (const int budget : {1, 2}) {
    storm(ListenerStrategy::kPerWorker, HandoffPolicy(), budget);
    storm(ListenerStrategy::kPerWorker, HandoffPolicy(true, 64, 1), budget);
    storm(ListenerStrategy::kShared, HandoffPolicy(), budget);
    storm(ListenerStrategy::kShared, HandoffPolicy(true, 4, 1), budget);
  }
}

// proves: C-ACCEPT-03, INV-17
TEST(Budget, WhatASharedListenerStillHoldsIsPassedToAPeer) {
  Hooks hooks;
  SchedulerOptions options = uncapped(ListenerStrategy::kShared);
  options.serving.accept_budget = 1;
  auto server = serve(hooks, 2, options);
  for (int round = 0; round < 200 && sum(server, &WorkerSnapshot::passed_on) == 0; ++round) {
    ASSERT_TRUE(await_idle(server));
    std::vector<LineClient> clients;
    for (int i = 0; i < 8; ++i) clients.emplace_back(server.addresses().front());
    for (LineClient& client : clients) ASSERT_EQ(client.ask("x"), "x");
  }
  EXPECT_GT(sum(server, &WorkerSnapshot::passed_on), 0U);
}

// The donor's next tick finds new clients and a request whose handler does not return: both in one batch.
// proves: C-SERVE-03, C-ACCEPT-02, INV-06
TEST(Wake, APushedConnectionIsServedBeforeItsDonorEntersAHandler) {
  Hooks hooks;
  auto server = serve(hooks, 2, uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(true, 64, 1)));
  std::vector<LineClient> busy;
  {
    std::vector<LineClient> others;  // they balance worker 0's while those come, and leave then
    for (int i = 0; i < 24; ++i) {
      LineClient client(server.addresses().front());
      const int served = who(client).served;
      ASSERT_GE(served, 0);
      (served == 0 ? busy : others).push_back(std::move(client));
    }
  }
  ASSERT_GE(busy.size(), 10U);
  ASSERT_TRUE(wait_until([&] { return lives(server) == std::vector<std::uint64_t>{busy.size(), 0}; }));
  ASSERT_TRUE(busy[0].send("hold\n"));
  ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
  ASSERT_TRUE(busy[1].send("hold2\n"));
  std::vector<LineClient> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(server.addresses().front());
  hooks.gate.open();
  ASSERT_TRUE(wait_until([&] { return hooks.second_gate.waiting() == 1; }));
  for (LineClient& client : clients) EXPECT_EQ(who(client).served, 1);
  hooks.second_gate.open();
  EXPECT_EQ(busy[1].line(), "held2");
}

}  // namespace
}  // namespace flare::testing
