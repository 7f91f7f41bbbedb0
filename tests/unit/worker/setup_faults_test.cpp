// A connection that cannot be set up costs itself and nothing else.
#include <gtest/gtest.h>

#include <cerrno>
#include <new>

#include "hook_frontend.h"
#include "support/fault_injection.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

using faults::Symbol;

// 60 clients, one after the other; how many were closed. One that was read at once may have its first answer by then.
int closed_of_sixty(const HookScheduler& server, const std::function<void(int)>& before) {
  int closed = 0;
  for (int i = 0; i < 60; ++i) {
    before(i);
    LineClient client(server.addresses().front());
    client.send("x\n");
    closed += client.line() == "x" && client.ask("y") == "y" ? 0 : 1;
  }
  return closed;
}

// field-bugs C04
// proves: C-SERVE-04, C-SERVE-05, INV-04, INV-22
TEST(Setup, ARegistrationThatTheSystemRefusesCostsThisConnectionOnly) {
  const faults::Scope scope;
  Hooks hooks;
  auto server = serve(hooks, 2, uncapped(ListenerStrategy::kPerWorker));
  ASSERT_TRUE(await_idle(server));
  const int before = open_descriptors();
  const int closed = closed_of_sixty(server, [&](int i) {
    ASSERT_TRUE(await_no_connection(server));
    if (i % 3 == 0) faults::fail(Symbol::kEpollCtl, 1, ENOSPC);
  });
  EXPECT_EQ(closed, 20);
  ASSERT_TRUE(await_no_connection(server));
  EXPECT_EQ(sum(server, CloseReason::kSetupFailed), 20U);
  EXPECT_EQ(sum(server, CloseReason::kHandlerThrew), 0U);
  EXPECT_TRUE(wait_until([&] { return open_descriptors() == before; }));
  EXPECT_EQ(server.crashed_worker_count(), 0);
}

// proves: C-SERVE-05, INV-04, INV-22
TEST(Setup, NoMemoryForTheProtocolCostsThisConnectionOnly) {
  Hooks hooks;
  std::atomic<int> opened{0};
  hooks.before_open = [&](int) {
    if (opened++ % 3 == 0) throw std::bad_alloc();
  };
  auto server = serve(hooks, 2, uncapped(ListenerStrategy::kShared));
  ASSERT_TRUE(await_idle(server));
  const int before = open_descriptors();
  EXPECT_EQ(closed_of_sixty(server, [](int) {}), 20);
  ASSERT_TRUE(await_no_connection(server));
  EXPECT_EQ(sum(server, CloseReason::kSetupFailed), 20U);
  EXPECT_TRUE(wait_until([&] { return open_descriptors() == before; }));
}

// proves: C-SERVE-05, INV-04, INV-22
TEST(Setup, WhatOnOpenThrowsCostsThisConnectionOnly) {
  Hooks hooks;
  std::atomic<int> opened{0};
  hooks.on_open = [&](const Wire&) -> Step {
    if (opened++ % 3 == 0) throw 7;
    return Step::keep(INTEREST_READ);
  };
  auto server = serve(hooks, 2, uncapped(ListenerStrategy::kShared));
  ASSERT_TRUE(await_idle(server));
  const int before = open_descriptors();
  EXPECT_EQ(closed_of_sixty(server, [](int) {}), 20);
  ASSERT_TRUE(await_no_connection(server));
  EXPECT_EQ(sum(server, CloseReason::kHandlerThrew), 20U);
  EXPECT_TRUE(wait_until([&] { return open_descriptors() == before; }));
}

// Each of them frees a place at the cap, in a tick that no event follows: the next one waits for nothing else.
// proves: C-ACCEPT-05, C-SERVE-05
TEST(Setup, AConnectionThatEndsWhileItIsAdoptedLetsTheNextOneIn) {
  for (const bool handoff : {false, true}) {
    Hooks hooks;
    std::atomic<bool> failing{false};
    hooks.on_open = [&](const Wire& wire) -> Step {
      if (failing) return Step::close(CloseReason::kProtocolError);
      static_cast<void>(wire);
      return Step::keep(INTEREST_READ);
    };
    SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(handoff, 64, 1));
    options.serving.max_connections = 1;
    auto server = serve(hooks, handoff ? 2 : 1, options);
    for (int round = 0; round < 50; ++round) {
      failing = false;
      std::vector<LineClient> holders;
      for (int i = 0; i < server.worker_count(); ++i) {
        holders.emplace_back(server.addresses().front());
        ASSERT_EQ(holders.back().ask("x"), "x");
      }
      std::vector<LineClient> waiting;
      for (int i = 0; i < 8; ++i) waiting.emplace_back(server.addresses().front());
      failing = true;
      holders.clear();
      for (LineClient& client : waiting) ASSERT_NE(client.await_end(), StreamEnd::kOpen) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace flare::testing
