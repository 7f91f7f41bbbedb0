// At the cap, with the handoff on: a peer that can't take a client now can take it a moment later, without a close.
#include <gtest/gtest.h>

#include "hook_frontend.h"

namespace flare::testing {
namespace {

// Two workers with own listeners; worker 1 gives up its own first, so that every client comes to worker 0. No client
// moves before worker 0 is at its cap.
class CapPeer : public ::testing::Test {
 protected:
  class OneDoor {
   public:
    explicit OneDoor(Hooks& hooks) : inner_(hooks) {}
    bool requires_per_worker_listener() const { return true; }
    void run_worker(WorkerContext& context) {
      if (context.id() == 1) context.listeners().front()->disable();
      inner_.run_worker(context);
    }

   private:
    HookFrontend inner_;
  };

  void start(int capacity, int cap) {
    SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(true, capacity, 1000));
    options.serving.max_connections = cap;
    server_ = Scheduler<OneDoor>::start(SocketAddress::loopback_v4(), OneDoor(hooks_), 2, false, {}, options);
    ASSERT_TRUE(wait_until([&] { return server_.stats()[0].ticks > 0 && doors_closed(); }));
  }
  // Worker 1 is past its first line: clients come to worker 0 alone.
  bool doors_closed() const { return server_.stats()[1].ticks > 0 || hooks_.gate.waiting() > 0; }
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

}  // namespace
}  // namespace flare::testing
