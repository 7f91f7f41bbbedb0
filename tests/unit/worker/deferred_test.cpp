// Deferred accept: who is silent is not seen, and who is seen has spoken.
#include <gtest/gtest.h>

#include <atomic>

#include "flare/kernel/system_kernel.h"
#include "flare/net/listener.h"
#include "flare/worker/loop_token.h"
#include "hook_frontend.h"
#include "support/strategy_name.h"

namespace flare::testing {
namespace {

class Deferred : public ::testing::TestWithParam<ListenerStrategy> {};

SchedulerOptions deferred(ListenerStrategy strategy) {
  SchedulerOptions options = uncapped(strategy, HandoffPolicy(true, 64, 1));
  options.listener.defer_accept_s = 60;  // longer than any test: nobody comes up by himself
  return options;
}

// proves: C-ACCEPT-09
TEST_P(Deferred, ASilentClientIsSeenWhenItSpeaks) {
  Hooks hooks;
  auto server = serve(hooks, 2, deferred(GetParam()));
  LineClient silent(server.addresses().front());
  ASSERT_TRUE(silent.connected());
  for (int i = 0; i < 8; ++i) {
    LineClient later(server.addresses().front());
    EXPECT_EQ(later.ask("x"), "x") << "it came behind the silent one, and spoke";
  }
  EXPECT_EQ(sum(server, &WorkerSnapshot::accepted), 8U);
  EXPECT_EQ(silent.ask("y"), "y");
  EXPECT_EQ(sum(server, &WorkerSnapshot::accepted), 9U);
}

// proves: C-ACCEPT-09, INV-04
TEST_P(Deferred, WhoIsHandedOverIsServedToo) {
  Hooks hooks;
  auto server = serve(hooks, 2, deferred(GetParam()));
  std::vector<LineClient> kept;
  for (int i = 0; i < 64; ++i) {
    kept.emplace_back(server.addresses().front());
    ASSERT_GE(who(kept.back()).served, 0) << "client " << i << " was never answered";
  }
  for (LineClient& client : kept) EXPECT_EQ(client.ask("again"), "again") << "it stays registered";
  EXPECT_EQ(sum(server, &WorkerSnapshot::accepted), 64U);
  EXPECT_EQ(sum(server, &WorkerSnapshot::live), 64U);
}

// The first call after on_open may say anything: it costs that one connection.
// proves: C-ACCEPT-09, C-SERVE-05
TEST_P(Deferred, AFirstRequestThatThrowsCostsItsConnectionAlone) {
  Hooks hooks;
  auto server = serve(hooks, 2, deferred(GetParam()));
  LineClient other(server.addresses().front());
  EXPECT_EQ(other.ask("x"), "x");
  LineClient thrown(server.addresses().front());
  EXPECT_EQ(thrown.ask("throw"), std::nullopt);
  EXPECT_EQ(other.ask("y"), "y");
  EXPECT_TRUE(wait_until([&] { return sum(server, CloseReason::kHandlerThrew) == 1; }));
}

// A connection that a peer hands over is adopted before the tick's accepts: its handler must not run before them.
// proves: C-ACCEPT-02
TEST(DeferredOrder, HandlersRunBehindTheAcceptsOfTheirTick) {
  for (const int seconds : {0, 60}) {
    Hooks hooks;
    std::vector<std::string> order;  // the worker's, until it is joined
    std::atomic<int> handled{0};
    bool recording = false;
    hooks.before_open = [&](int) {
      if (recording) order.emplace_back("open");
    };
    hooks.on_ready = [&](const Wire& w, Readiness) {
      const Result<std::size_t> got = SystemKernel::recv(w.fd, w.scratch, w.scratch_size);
      if (!got.ok() || got.value() == 0)
        return got.ok() ? Step::close(CloseReason::kPeerGone) : Step::keep(INTEREST_READ);
      if (w.scratch[0] == 'h') hooks.gate.enter();
      if (recording) order.emplace_back("handler");
      recording = true;
      ++handled;
      return Step::keep(INTEREST_READ);
    };
    Insight insight;
    SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker);
    options.listener.defer_accept_s = seconds;
    auto server = Scheduler<OpenFrontend>::start(own_loopback(), OpenFrontend(hooks, insight), 1, false, {}, options);
    LineClient holder(server.addresses().front());
    ASSERT_TRUE(holder.send("h\n"));
    ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
    LineClient newcomer(server.addresses().front());
    ASSERT_TRUE(newcomer.send("x\n"));
    const Shared<Listener> elsewhere = bind_shared(own_loopback(), {});
    LineClient moved(elsewhere->address());
    ASSERT_TRUE(moved.send("x\n"));
    const Result<int> handed = elsewhere->accept();
    ASSERT_TRUE(handed.ok());
    ASSERT_TRUE(insight.get()->pool.push_orphan(0, HandoffToken{handed.value(), 0, 0}.pack()));
    hooks.gate.open();
    EXPECT_TRUE(wait_until([&] { return handled == 3; }));
    server.shutdown();
    EXPECT_EQ(order, (std::vector<std::string>{"open", "open", "handler", "handler"})) << seconds;
  }
}

INSTANTIATE_TEST_SUITE_P(Strategy, Deferred, ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared),
                         name_of);

}  // namespace
}  // namespace flare::testing
