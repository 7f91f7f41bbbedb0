// A peer that has had no CPU: its load says idle, its accept queue says otherwise. One thread plays the donor; the peer
// never runs, which is the point.
#include <gtest/gtest.h>

#include <vector>

#include "flare/worker/acceptor.h"
#include "flare/worker/loop_token.h"
#include "flare/worker/worker_context.h"
#include "support/line_client.h"
#include "support/line_protocol.h"
#include "support/own_loopback.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

class WaitingClients : public ::testing::Test {
 protected:
  WaitingClients() : shared_(share<WorkerShared>(HandoffPolicy(true, 64, 1), 2, ServingOptions{})) {
    for (Shared<Listener>& own : bind_reuseport(own_loopback(), 2, ListenerOptions{})) {
      shared_->listeners.push_back({std::move(own)});
      shared_->wakers.push_back(share<Waker>());
      shared_->stats.push_back(share<WorkerStats>());
    }
  }
  ~WaitingClients() override {
    for (const std::int64_t token : shared_->pool.close_and_drain(1)) UniqueFd(HandoffToken::unpack(token).fd).reset();
  }

  // Connects until at least count clients wait at each; the kernel's hash decides where each one goes.
  void connect_until_each_has(std::int64_t count) {
    for (int i = 0; i < 1000; ++i) {
      const std::int64_t before = waiting(0) + waiting(1);
      if (waiting(0) >= count && waiting(1) >= count) return;
      clients_.emplace_back(shared_->listeners[0][0]->address());
      ASSERT_TRUE(wait_until([&] { return waiting(0) + waiting(1) > before; }));
    }
    FAIL() << "the kernel sent 1000 clients to one listener";
  }
  // Takes clients away until count are left.
  void shrink(int worker, std::int64_t count) {
    while (waiting(worker) > count) {
      const Result<int> accepted = shared_->listeners[static_cast<std::size_t>(worker)][0]->accept();
      ASSERT_TRUE(accepted.ok());
      UniqueFd(accepted.value()).reset();
    }
  }
  std::int64_t waiting(int worker) const { return shared_->waiting_clients(worker); }
  // One accept pass of worker 0; returns how many it handed out.
  std::uint64_t pass_of_the_donor() {
    WorkerContext context(shared_, 0);
    LineProtocol protocol(handler_, context.stats());
    LoopState loop(context);
    ConnectionSet connections(loop, protocol);
    Acceptor acceptor(loop, connections);
    acceptor.open();
    acceptor.pass();
    const std::uint64_t handed_out = context.stats().handed_out.get();
    connections.cut_all(true);
    return handed_out;
  }

  Shared<WorkerShared> shared_;
  const LineHandler handler_ = [](const std::string& line, int) { return line; };
  std::vector<LineClient> clients_;
};

// proves: C-ACCEPT-08, INV-09
TEST_F(WaitingClients, OfAPeerCountAsItsLoadBeforeItIsHandedMore) {
  connect_until_each_has(6);
  shrink(0, 6);
  shrink(1, 6);
  EXPECT_EQ(pass_of_the_donor(), 0U);
}

// The control: the same donor hands out what a peer with fewer clients of its own can take.
// proves: C-ACCEPT-08
TEST_F(WaitingClients, AreNoReasonToKeepWhatTheyDoNotOutweigh) {
  connect_until_each_has(6);
  shrink(0, 6);
  shrink(1, 2);
  // Threshold 1. Kept while the donor's load is 0, 1 and 2; handed out at 3 against 2, kept at 3 against 3, handed out
  // at 4 against 3.
  EXPECT_EQ(pass_of_the_donor(), 2U);
}

// proves: C-SERVE-03
TEST_F(WaitingClients, HandedOverInOnePassAreOneWakeForTheirTarget) {
  connect_until_each_has(6);
  shrink(0, 6);
  shrink(1, 2);
  EXPECT_EQ(pass_of_the_donor(), 2U);
  EXPECT_EQ(shared_->stats[0]->wakes_sent.get() + shared_->stats[0]->wakes_skipped.get(), 1U);
}

}  // namespace
}  // namespace flare::testing
