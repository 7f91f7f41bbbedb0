// A worker that dies with the exclusive wake of a waiting client: no other poller was told of that client.
#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <vector>

#include "hook_frontend.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

using faults::Symbol;

// Worker 0 begins after worker 1, so that worker 1 stands before it among the listener's waiters.
class Leave : public ::testing::Test {
 protected:
  void start(HandoffPolicy policy, int cap) {
    hooks_.before_serve = [this](int worker) {
      if (worker == 0) start_zero_.enter();
    };
    SchedulerOptions options = uncapped(ListenerStrategy::kShared, policy);
    options.serving.max_connections = cap;
    server_ = serve(hooks_, 2, options);
    EXPECT_TRUE(wait_until([&] { return server_.stats()[1].ticks > 0 && server_.stats()[1].sleeping; }));
  }
  bool rests(std::size_t worker) const {
    const WorkerSnapshot one = server_.stats()[worker];
    return one.ticks > 0 && one.sleeping;
  }
  LineClient client() const { return LineClient(server_.addresses().front()); }
  // Its wake ends worker 1, which sleeps and is asked first.
  LineClient last_client_of_worker_one() {
    EXPECT_TRUE(wait_until([&] { return rests(1); }));
    faults::fail(Symbol::kAccept4, 1, EBADF);
    LineClient last = client();
    EXPECT_TRUE(last.send("x\n"));
    EXPECT_TRUE(wait_until([&] { return server_.crashed_worker_count() == 1; }));
    EXPECT_TRUE(server_.stats()[1].crashed);
    return last;
  }

  const faults::Scope scope_;
  Gate start_zero_;
  Hooks hooks_;
  HookScheduler server_;
};

// proves: C-ACCEPT-03, C-CRASH-03, INV-17
TEST_F(Leave, AStuckPeerServesItWhenItComesBack) {
  start({}, 0);
  LineClient first = client();
  EXPECT_TRUE(first.send("hold\n"));
  ASSERT_TRUE(wait_until([&] { return hooks_.gate.waiting() == 1; })) << "worker 1 holds it";
  start_zero_.open();
  EXPECT_TRUE(wait_until([&] { return rests(0); }));
  LineClient second = client();
  EXPECT_TRUE(second.send("hold2\n"));
  ASSERT_TRUE(wait_until([&] { return hooks_.second_gate.waiting() == 1; })) << "worker 0 holds it";
  hooks_.gate.open();
  EXPECT_EQ(first.line(), "held");
  EXPECT_TRUE(wait_until([&] { return server_.stats()[0].heartbeat_age_ms > 2 * limits::kStuckAfter.count(); }));
  LineClient last = last_client_of_worker_one();
  hooks_.second_gate.open();
  EXPECT_EQ(second.line(), "held2");
  EXPECT_EQ(last.line(), "x");
  EXPECT_TRUE(adds_up(server_.drain(5000)));
}

// proves: C-ACCEPT-03, C-ACCEPT-05, C-CRASH-03, INV-17
TEST_F(Leave, APeerAtItsCapServesItWhenAPlaceIsFree) {
  start(HandoffPolicy(true, 64, 1), 1);
  LineClient first = client();
  EXPECT_EQ(who(first).served, 1);
  LineClient handed = client();
  EXPECT_TRUE(wait_until([&] { return server_.stats()[0].queued == 1; }));
  first.close();
  EXPECT_TRUE(wait_until([&] { return server_.stats()[1].live == 0 && rests(1); }));
  start_zero_.open();
  // It comes to its cap by adopting: it did not accept, so it did not pause.
  EXPECT_EQ(who(handed).served, 0);
  EXPECT_TRUE(wait_until([&] { return rests(0); }));
  EXPECT_EQ(server_.stats()[0].accept_pauses, 0U);
  LineClient last = last_client_of_worker_one();
  handed.close();
  EXPECT_EQ(last.line(), "x");
  EXPECT_TRUE(adds_up(server_.drain(5000)));
}

// An error of one connection is not the end of the backlog: whoever leaves skips it, as it does while it serves.
// proves: C-CRASH-02, INV-18
TEST(LeaveOwnListener, AnErrorOfOneConnectionLosesNoOtherOne) {
  const faults::Scope scope;
  Gate leave;
  Hooks hooks;
  hooks.before_serve = [&](int worker) {
    if (worker == 0) return;
    leave.enter();
    faults::fail_on_this_thread(Symbol::kAccept4, EPROTO);
    throw std::runtime_error("worker 1 leaves");
  };
  HookScheduler server = serve(hooks, 2, uncapped(ListenerStrategy::kPerWorker, {}));
  std::vector<LineClient> clients;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back(server.addresses().front());
    EXPECT_TRUE(clients.back().send("x\n"));
  }
  leave.open();
  for (LineClient& client : clients) EXPECT_EQ(client.line(), "x");
  EXPECT_EQ(faults::injected(Symbol::kAccept4), 1);
  EXPECT_TRUE(adds_up(server.drain(5000)));
}

// Accepted in the pass that crashed, and not adopted yet: cut and counted, and live no more.
// proves: C-CRASH-02, INV-22
TEST(LeaveInHand, WhatACrashHadInHandIsCutAndLiveNoMore) {
  const faults::Scope scope;
  Hooks hooks;
  hooks.before_serve = [&](int) { hooks.gate.enter(); };
  HookScheduler server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  const std::vector<LineClient> clients = [&] {
    std::vector<LineClient> waiting;
    for (int i = 0; i < 4; ++i) waiting.emplace_back(server.addresses().front());
    return waiting;
  }();
  faults::fail(Symbol::kAccept4, 3, EBADF);
  hooks.gate.open();
  EXPECT_TRUE(wait_until([&] {
    const WorkerSnapshot one = server.stats()[0];
    return one.crashed && one.accepted == 4 && one.cut == 4 && one.live == 0;
  })) << "live: "
      << server.stats()[0].live;
}

// proves: C-ACCEPT-05, C-CRASH-03
TEST(LeavePaused, ACrashedWorkerCountsAsPausedNoMore) {
  const faults::Scope scope;
  Hooks hooks;
  FullWorker full(hooks);
  ASSERT_TRUE(full.held);
  ASSERT_TRUE(wait_until([&] {
    const WorkerSnapshot one = full.server.stats()[0];
    return one.accept_pauses == 1 && one.sleeping;
  }));
  ASSERT_TRUE(wait_until([&] { return full.pool().paused_count() == 1; }));
  faults::fail(Symbol::kEpollWait, 1, EBADF);
  EXPECT_TRUE(full.holder.send("y\n"));
  EXPECT_TRUE(wait_until([&] { return full.server.crashed_worker_count() == 1 && full.pool().paused_count() == 0; }));
}

}  // namespace
}  // namespace flare::testing
