// The connection cap: whoever waits is served as soon as any worker can. No poll cap: a lost wake hangs its client.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "hook_frontend.h"
#include "support/random_seed.h"

namespace flare::testing {
namespace {

struct Case {
  ListenerStrategy strategy;
  bool handoff;
  int cap;
  int budget;
};

SchedulerOptions capped(const Case& with) {
  SchedulerOptions options = uncapped(with.strategy, HandoffPolicy(with.handoff, 64, 1));
  options.serving.max_connections = with.cap;
  options.serving.accept_budget = with.budget;
  return options;
}

bool has_answer(const LineClient& client) {
  pollfd wanted{client.fd(), POLLIN, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

std::uint64_t most(const HookScheduler& server) {
  const std::vector<std::uint64_t> all = lives(server);
  return *std::max_element(all.begin(), all.end());
}

// Clients come, hold a place for a while and leave, in an order made of the seed; 1,000 are served. At any time as
// many are served as there are places or clients, and the test waits for exactly that after each step.
void serve_a_thousand(const Case& with, std::uint64_t seed) {
  constexpr std::size_t kWorkers = 4;
  Hooks hooks;
  auto server = serve(hooks, kWorkers, capped(with));
  ASSERT_TRUE(await_idle(server));
  const std::size_t places = kWorkers * static_cast<std::size_t>(with.cap);
  std::mt19937_64 random(seed);
  std::vector<LineClient> clients;
  std::vector<bool> served;
  std::size_t total = 0;
  std::uint64_t worst = 0;
  while (total < 1000) {
    const std::size_t coming = random() % (places + 3);
    for (std::size_t i = 0; i < coming && clients.size() < 3 * places; ++i) {
      clients.emplace_back(server.addresses().front());
      ASSERT_TRUE(clients.back().send("x\n"));
      served.push_back(false);
    }
    // Which of them are served is the kernel's choice; how many is not.
    const auto count = [&] {
      for (std::size_t i = 0; i < clients.size(); ++i) {
        if (!served[i] && has_answer(clients[i]) && clients[i].line() == "x") {
          served[i] = true;
          ++total;
        }
      }
      worst = std::max(worst, most(server));
      return static_cast<std::size_t>(std::count(served.begin(), served.end(), true));
    };
    ASSERT_TRUE(wait_until([&] { return count() >= std::min(places, clients.size()); }))
        << "seed " << seed << ": after " << total << " only " << count() << " of " << clients.size()
        << " clients are served, places: " << places;
    for (std::size_t leaving = random() % (places + 1); leaving > 0; --leaving) {
      std::vector<std::size_t> candidates;
      for (std::size_t i = 0; i < clients.size(); ++i) {
        if (served[i]) candidates.push_back(i);
      }
      if (candidates.empty()) break;
      const auto at = static_cast<std::ptrdiff_t>(candidates[random() % candidates.size()]);
      clients.erase(clients.begin() + at);
      served.erase(served.begin() + at);
    }
  }
  EXPECT_LE(worst, static_cast<std::uint64_t>(with.cap) + 1);
  clients.clear();
  EXPECT_TRUE(await_no_connection(server));
  EXPECT_TRUE(adds_up(server.drain(5000)));
}

// proves: C-ACCEPT-03, C-ACCEPT-04, C-ACCEPT-05, INV-17, INV-22
TEST(Cap, EveryWaitingClientOfASharedListenerIsServedAsSoonAsAnyWorkerCan) {
  const std::uint64_t seed = random_seed("unit_worker", "Cap.*Shared*");
  serve_a_thousand({ListenerStrategy::kShared, false, 1, 64}, seed);
  serve_a_thousand({ListenerStrategy::kShared, true, 1, 64}, seed + 1);
  serve_a_thousand({ListenerStrategy::kShared, false, 3, 1}, seed + 2);
  serve_a_thousand({ListenerStrategy::kShared, true, 3, 2}, seed + 3);
}

// The kernel chose the worker; with the handoff on a client whose worker is full is served by a peer.
// proves: C-ACCEPT-04, C-ACCEPT-05, C-SERVE-01, INV-22
TEST(Cap, WithTheHandoffAClientOfAFullWorkerIsServedByAPeer) {
  const std::uint64_t seed = random_seed("unit_worker", "Cap.WithTheHandoff*");
  serve_a_thousand({ListenerStrategy::kPerWorker, true, 1, 64}, seed);
  serve_a_thousand({ListenerStrategy::kPerWorker, true, 3, 1}, seed + 1);
}

// As many clients as places, all at once: none may be left while a place is free.
// proves: C-ACCEPT-01, C-ACCEPT-03, C-ACCEPT-05, INV-17
TEST(Cap, AStormThatFillsEveryPlaceIsServed) {
  for (const Case& with : {Case{ListenerStrategy::kShared, false, 4, 1}, Case{ListenerStrategy::kShared, true, 4, 1},
                           Case{ListenerStrategy::kShared, false, 4, 64}}) {
    Hooks hooks;
    auto server = serve(hooks, 4, capped(with));
    for (int round = 0; round < 150; ++round) {
      ASSERT_TRUE(await_idle(server));
      std::vector<LineClient> clients;
      for (int i = 0; i < 16; ++i) clients.emplace_back(server.addresses().front());
      for (LineClient& client : clients) ASSERT_TRUE(client.send("x\n"));
      for (LineClient& client : clients) {
        ASSERT_EQ(client.line(), "x") << "round " << round << ", budget " << with.budget << ", live "
                                      << ::testing::PrintToString(lives(server));
      }
      clients.clear();
      ASSERT_TRUE(await_no_connection(server));
    }
  }
}

// Two full workers ask their only peer, and the two requests coalesce: it takes one client per tick and has nobody to
// ask for the other, of which its own poller knows nothing.
// proves: C-ACCEPT-01, C-ACCEPT-05, INV-17
TEST(Cap, APeerThatWasAskedGoesOnUntilNoClientWaits) {
  Hooks hooks;
  auto server = serve(hooks, 3, capped({ListenerStrategy::kShared, false, 2, 1}));
  for (int round = 0; round < 300; ++round) {
    std::vector<LineClient> clients;
    const auto come = [&] {
      clients.emplace_back(server.addresses().front());
      ASSERT_EQ(clients.back().ask("x"), "x");
    };
    hooks.gate.close();
    ASSERT_TRUE(await_idle(server));
    come();
    ASSERT_TRUE(clients[0].send("hold\n"));
    ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
    come();
    come();
    hooks.gate.open();
    ASSERT_EQ(clients[0].line(), "held");
    ASSERT_TRUE(await_idle(server));
    come();
    ASSERT_TRUE(await_idle(server));
    for (int i = 0; i < 2; ++i) clients.emplace_back(server.addresses().front());
    for (std::size_t i = 4; i < 6; ++i) {
      ASSERT_EQ(clients[i].ask("x"), "x") << "round " << round << ", live " << ::testing::PrintToString(lives(server));
    }
    clients.clear();
    ASSERT_TRUE(await_no_connection(server));
  }
}

// The full worker (its budget ended with its last place, so it is not paused yet) alone is woken. It has two peers of
// the same load. One is inside a handler; the other is idle.
// proves: C-ACCEPT-03, C-ACCEPT-05, INV-17
TEST(Cap, AClientIsNotLeftToAWorkerInsideAHandlerWhileAnotherIsIdle) {
  for (int round = 0; round < 12; ++round) {
    Hooks hooks;
    auto server = serve(hooks, 3, capped({ListenerStrategy::kShared, false, 2, 1}));
    std::vector<LineClient> clients;
    // One for each worker: whoever has one is inside a handler while the next one comes.
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(i > 0 || await_idle(server));
      clients.emplace_back(server.addresses().front());
      ASSERT_EQ(clients.back().ask("x"), "x");
      ASSERT_TRUE(clients.back().send("hold\n"));
      ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == i + 1; }));
    }
    hooks.gate.open();
    for (LineClient& client : clients) ASSERT_EQ(client.line(), "held");
    ASSERT_TRUE(await_idle(server));
    clients.emplace_back(server.addresses().front());  // fills the one that is woken first
    ASSERT_EQ(clients.back().ask("x"), "x");
    const int full = who(clients.back()).served;
    std::size_t busy = 0;  // the peers take turns
    while (who(clients[busy]).served == full) ++busy;
    if (round % 2 == 1) {
      for (++busy; who(clients[busy]).served == full;) ++busy;
    }
    ASSERT_TRUE(await_idle(server));
    ASSERT_TRUE(clients[busy].send("hold2\n"));
    ASSERT_TRUE(wait_until([&] { return hooks.second_gate.waiting() == 1; }));
    LineClient waiting(server.addresses().front());
    EXPECT_EQ(waiting.ask("x"), "x") << "round " << round;
    hooks.second_gate.open();
    EXPECT_EQ(clients[busy].line(), "held2");
  }
}

// Queued tokens count: a worker inside a handler is not pushed beyond its cap.
// proves: C-ACCEPT-04, C-POOL-01
TEST(Cap, QueuedTokensCountAgainstIt) {
  Hooks hooks;
  auto server = serve(hooks, 2, capped({ListenerStrategy::kPerWorker, true, 3, 64}));
  std::optional<LineClient> stuck = client_of(server, 0);
  ASSERT_TRUE(stuck);
  ASSERT_TRUE(stuck->send("hold\n"));
  ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
  std::vector<LineClient> clients;
  for (int i = 0; i < 30; ++i) clients.emplace_back(server.addresses().front());
  std::uint64_t worst = 0;
  wait_until(
      [&] {
        const auto all = server.stats();
        for (const WorkerSnapshot& one : all) worst = std::max(worst, one.live + one.queued);
        return all[0].live + all[0].queued >= 3 && all[1].live + all[1].queued >= 3;
      },
      std::chrono::milliseconds(500));
  EXPECT_LE(worst, 4U);
  hooks.gate.open();
  EXPECT_EQ(stuck->line(), "held");
}

}  // namespace
}  // namespace flare::testing
