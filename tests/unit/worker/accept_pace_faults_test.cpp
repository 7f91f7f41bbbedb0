// Calls of accept: one per client that comes alone where nobody else could serve it; and nobody is forgotten.
#include <gtest/gtest.h>

#include <atomic>

#include "hook_frontend.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

constexpr int kClients = 20;

// Calls of accept4 for clients that come one by one, each when the one before was served.
long calls_one_by_one(int workers, ListenerStrategy strategy, const HandoffPolicy& policy) {
  const faults::Scope scope;
  Hooks hooks;
  auto server = serve(hooks, workers, uncapped(strategy, policy));
  EXPECT_TRUE(await_idle(server));
  const long before = faults::calls(faults::Symbol::kAccept4);
  for (int i = 0; i < kClients; ++i) {
    LineClient client(server.addresses().front());
    EXPECT_EQ(client.ask("x"), "x");
    EXPECT_TRUE(await_idle(server));
  }
  return faults::calls(faults::Symbol::kAccept4) - before;
}

// proves: C-ACCEPT-10
TEST(AcceptCalls, AClientThatComesAloneCostsOneWhereNobodyElseCouldServeIt) {
  EXPECT_EQ(calls_one_by_one(1, ListenerStrategy::kPerWorker, HandoffPolicy(true, 64, 1)), kClients + kClients / 9);
  EXPECT_LE(calls_one_by_one(2, ListenerStrategy::kPerWorker, HandoffPolicy(false, 64, 1)), kClients + kClients / 9);
}

// proves: C-ACCEPT-01, INV-17
TEST(AcceptCalls, WhereAPeerMightServeThemClientsAreAcceptedUntilThereAreNone) {
  EXPECT_GE(calls_one_by_one(1, ListenerStrategy::kShared, HandoffPolicy(false, 64, 1)), 2 * kClients);
  EXPECT_GE(calls_one_by_one(2, ListenerStrategy::kPerWorker, HandoffPolicy(true, 64, 1)), 2 * kClients);
}

// Nothing wakes the worker at the end of a time: what a pass left, the poller reported.
// proves: C-ACCEPT-01, C-ACCEPT-10, INV-17
TEST(AcceptCalls, OfACrowdNobodyIsForgotten) {
  const faults::Scope scope;
  Hooks hooks;
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient holder(server.addresses().front());
  EXPECT_TRUE(holder.send("hold\n"));
  ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
  const std::uint64_t ticks_before = sum(server, &WorkerSnapshot::ticks);
  std::vector<LineClient> clients;
  for (int i = 0; i < 200; ++i) clients.emplace_back(server.addresses().front());
  hooks.gate.open();
  EXPECT_EQ(holder.line(), "held");
  ASSERT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::accepted) == clients.size() + 1; }));
  EXPECT_LE(sum(server, &WorkerSnapshot::ticks) - ticks_before, 25U) << "a crowd is taken in few passes";
  for (LineClient& client : clients) EXPECT_EQ(client.ask("x"), "x");
}

// Connections that are always ready fill every batch, and the listener comes in one of four.
// proves: C-ACCEPT-10, INV-17
TEST(AcceptCalls, WhereThePollerLeavesTheListenerOutClientsAreTakenWhenItComes) {
  constexpr int kBusy = 3;
  constexpr int kCrowd = 200;
  Hooks hooks;
  std::atomic<bool> hold{false};
  std::atomic<int> readied{0};
  std::atomic<int> opened{0};
  std::atomic<int> readied_at_last{-1};
  hooks.on_ready = [&](const Wire&, Readiness) {
    ++readied;
    if (hold.exchange(false)) hooks.gate.enter();
    return Step::keep(INTEREST_READ);
  };
  hooks.on_open = [&](const Wire&) {
    if (++opened == kBusy + kCrowd) readied_at_last = readied.load();
    return Step::keep(INTEREST_READ);
  };
  SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker);
  options.serving.max_events = 1;
  auto server = serve(hooks, 1, options);
  std::vector<LineClient> clients;
  for (int i = 0; i < kBusy; ++i) {
    clients.emplace_back(server.addresses().front());
    EXPECT_TRUE(clients.back().send("x\n"));
  }
  ASSERT_TRUE(wait_until([&] { return opened == kBusy; }));
  hold = true;
  ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
  const int before = readied;
  for (int i = 0; i < kCrowd; ++i) clients.emplace_back(server.addresses().front());
  hooks.gate.open();
  ASSERT_TRUE(wait_until([&] { return readied_at_last >= 0; }));
  EXPECT_LE(readied_at_last - before, 30);
}

}  // namespace
}  // namespace flare::testing
