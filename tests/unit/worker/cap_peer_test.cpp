// At the cap, with the handoff on: a peer that can't take a client now can take it a moment later, without a close.
#include <gtest/gtest.h>

#include "hook_frontend.h"

namespace flare::testing {
namespace {

// Workers with own listeners; all but one give up their own first, so that every client comes to that one. No client
// moves before it is at its cap.
class CapPeer : public ::testing::Test {
 protected:
  class OneDoor {
   public:
    OneDoor(Hooks& hooks, int door) : inner_(hooks), door_(door) {}
    bool requires_per_worker_listener() const { return true; }
    void run_worker(WorkerContext& context) {
      if (context.id() != door_) context.listeners().front()->disable();
      inner_.run_worker(context);
    }

   private:
    HookFrontend inner_;
    int door_;
  };

  void start(int capacity, int cap, int workers = 2, int door = 0) {
    SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(true, capacity, 1000));
    options.serving.max_connections = cap;
    server_ = Scheduler<OneDoor>::start(own_loopback(), OneDoor(hooks_, door), workers, false, {}, options);
    // All are past their first line: clients come to one alone.
    ASSERT_TRUE(wait_until([&] {
      int begun = hooks_.gate.waiting();
      for (const WorkerSnapshot& one : server_.stats()) begun += one.ticks > 0 ? 1 : 0;
      return begun == workers;
    }));
  }
  LineClient client() const { return LineClient(server_.addresses().front()); }

  Hooks hooks_;
  Scheduler<OneDoor> server_;
};

// proves: C-ACCEPT-05, C-SERVE-03, INV-06
TEST_F(CapPeer, AQueueThatWasFullForAMomentLeavesNoClientWaiting) {
  hooks_.before_serve = [this](int worker) {
    if (worker == 1) hooks_.gate.enter();
  };
  start(/*capacity=*/1, /*cap=*/3);
  std::vector<LineClient> own;
  for (int i = 0; i < 3; ++i) {
    own.push_back(client());
    EXPECT_EQ(own.back().ask("x"), "x");
  }
  LineClient queued = client();
  EXPECT_TRUE(wait_until([&] { return server_.stats()[1].queued == 1; }));
  LineClient waiting = client();
  EXPECT_TRUE(waiting.send("x\n"));
  EXPECT_TRUE(wait_until([&] { return server_.stats()[0].accept_pauses == 1; }));
  hooks_.gate.open();
  EXPECT_EQ(queued.ask("x"), "x");
  EXPECT_EQ(waiting.line(), "x") << "worker 1 has two free places and nothing to do";
  EXPECT_TRUE(adds_up(server_.drain(5000)));
}

// proves: C-ACCEPT-05, C-POOL-03
TEST_F(CapPeer, AStuckPeerThatComesBackTakesTheClientThatWaits) {
  start(/*capacity=*/64, /*cap=*/2);
  std::vector<LineClient> own;
  for (int i = 0; i < 2; ++i) {
    own.push_back(client());
    EXPECT_EQ(own.back().ask("x"), "x");
  }
  LineClient held = client();
  EXPECT_TRUE(held.send("hold\n"));
  ASSERT_TRUE(wait_until([&] { return hooks_.gate.waiting() == 1; }));
  EXPECT_TRUE(wait_until([&] { return server_.stats()[1].heartbeat_age_ms > 2 * limits::kStuckAfter.count(); }));
  LineClient waiting = client();
  EXPECT_TRUE(waiting.send("x\n"));
  EXPECT_TRUE(wait_until([&] { return server_.stats()[0].accept_pauses == 1; }));
  hooks_.gate.open();
  EXPECT_EQ(held.line(), "held");
  EXPECT_EQ(waiting.line(), "x") << "worker 1 has a free place and nothing to do";
  EXPECT_TRUE(adds_up(server_.drain(5000)));
}

// Only worker 2 accepts. Worker 1 crashes and leaves it a connection above its cap.
// proves: C-ACCEPT-05, C-CRASH-02
TEST_F(CapPeer, AWorkerAboveItsCapStillHandsAClientToAPeerWithAPlace) {
  hooks_.before_serve = [this](int worker) {
    if (worker != 1) return;
    hooks_.gate.enter();
    throw std::runtime_error("worker 1 ends");
  };
  start(/*capacity=*/64, /*cap=*/1, /*workers=*/3, /*door=*/2);
  LineClient own = client();
  EXPECT_EQ(who(own).served, 2);
  // One goes to worker 0, one into the queue of worker 1.
  LineClient handed = client();
  LineClient orphan = client();
  EXPECT_TRUE(wait_until([&] { return server_.stats()[1].queued == 1 && server_.stats()[0].live == 1; }));
  hooks_.gate.open();
  EXPECT_TRUE(wait_until([&] { return server_.stats()[2].live == 2; }));
  if (who(handed).served != 0) std::swap(handed, orphan);
  EXPECT_EQ(who(orphan).served, 2);
  handed.close();
  EXPECT_TRUE(wait_until([&] { return server_.stats()[0].live == 0 && server_.stats()[0].sleeping; }));
  EXPECT_EQ(server_.stats()[2].live, 2U);
  LineClient waiting = client();
  EXPECT_EQ(who(waiting).served, 0) << "worker 0 has a free place and nothing to do";
  EXPECT_TRUE(adds_up(server_.drain(5000)));
}

}  // namespace
}  // namespace flare::testing
