// One tick, step by step; the cap of one worker alone; a stop that finds the workers asleep or always busy.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "flare/kernel/system_kernel.h"
#include "hook_frontend.h"

namespace flare::testing {
namespace {

// While a handler runs, a client connects, another one sends a line, and a deadline passes: the next tick has them all.
// proves: C-ACCEPT-02
TEST(Tick, AcceptsThenRunsTimersThenHandlers) {
  Hooks hooks;
  std::vector<std::string> order;  // the worker's until the server has stopped
  std::atomic<bool> recording{false};
  std::atomic<int> noted{0};
  const auto note = [&](const char* what) {
    if (!recording) return;
    order.emplace_back(what);
    ++noted;
  };
  hooks.before_open = [&](int) { note("open"); };
  hooks.on_deadline = [&](const Wire&) {
    note("deadline");
    return Step::close(CloseReason::kDeadline);
  };
  hooks.on_ready = [&](const Wire& w, Readiness) {
    const Result<std::size_t> got = SystemKernel::recv(w.fd, w.scratch, w.scratch_size);
    if (!got.ok() || got.value() == 0) return Step::close(CloseReason::kPeerGone);
    if (w.scratch[0] != 'h') {
      note("ready");
      return Step::keep(INTEREST_READ);
    }
    hooks.gate.enter();
    recording = true;
    return Step::keep(INTEREST_READ, w.now);  // passed when this handler returns
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient holder(server.addresses().front());
  LineClient reader(server.addresses().front());
  ASSERT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::live) == 2; }));
  ASSERT_TRUE(await_idle(server));
  ASSERT_TRUE(holder.send("h\n"));
  ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
  ASSERT_TRUE(reader.send("x\n"));
  LineClient newcomer(server.addresses().front());
  const MonoTime later = SystemKernel::now() + std::chrono::milliseconds(3);
  EXPECT_TRUE(wait_until([&] { return SystemKernel::now() > later; }));
  hooks.gate.open();
  EXPECT_TRUE(wait_until([&] { return noted == 3; }));
  server.shutdown();
  EXPECT_EQ(order, (std::vector<std::string>{"open", "deadline", "ready"}));
}

SchedulerOptions capped_at(int cap) {
  SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker);
  options.serving.max_connections = cap;
  return options;
}

// proves: C-ACCEPT-04
TEST(CapOfOneWorker, IsNeverExceededWithoutTheHandoff) {
  for (const int cap : {1, 2, 5}) {
    Hooks hooks;
    auto server = serve(hooks, 1, capped_at(cap));
    std::vector<LineClient> clients;
    for (int i = 0; i < cap + 3; ++i) clients.emplace_back(server.addresses().front());
    ASSERT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::accept_pauses) > 0; }));
    ASSERT_TRUE(await_idle(server));
    EXPECT_EQ(sum(server, &WorkerSnapshot::accepted), static_cast<std::uint64_t>(cap));
  }
}

// proves: C-ACCEPT-05
TEST(CapOfOneWorker, APlaceThatIsFreedGoesToTheClientThatWaits) {
  Hooks hooks;
  auto server = serve(hooks, 1, capped_at(1));
  LineClient first(server.addresses().front());
  ASSERT_EQ(first.ask("x"), "x");
  LineClient second(server.addresses().front());
  ASSERT_TRUE(second.send("y\n"));
  ASSERT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::accept_pauses) > 0; }));
  ASSERT_TRUE(await_idle(server));
  first.close();
  EXPECT_EQ(second.line(), "y");
}

// The cap is the worker's, not a listener's: full through one address, it must not be woken by the other one.
// field-bugs C07
// proves: C-ACCEPT-05
TEST(CapOfTwoAddresses, BothPauseAndBothResume) {
  for (const std::size_t full : {0U, 1U}) {
    Hooks hooks;
    auto server = HookScheduler::start(own_loopback(), HookFrontend(hooks), 1, false, {own_loopback()}, capped_at(2));
    const auto addresses = server.addresses();
    std::vector<LineClient> clients;
    for (int i = 0; i < 2; ++i) {
      clients.emplace_back(addresses[full]);
      ASSERT_EQ(clients.back().ask("x"), "x");
    }
    std::vector<LineClient> waiting;
    for (const SocketAddress& address : addresses) {
      waiting.emplace_back(address);
      ASSERT_TRUE(waiting.back().send("y\n"));
    }
    ASSERT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::accept_pauses) > 0; }));
    ASSERT_TRUE(await_idle(server));
    const std::uint64_t ticks = sum(server, &WorkerSnapshot::ticks);
    EXPECT_FALSE(wait_until([&] { return sum(server, &WorkerSnapshot::ticks) > ticks + 20; }, limits::kPollCap));
    clients.clear();
    for (LineClient& client : waiting) EXPECT_EQ(client.line(), "y");
  }
}

bool stops(const HookScheduler& server) {
  return wait_until([&] { return !server.is_running(); });
}

// proves: C-STOP-04
TEST(StopWakes, ARequestWakesEveryWorker) {
  Hooks hooks;
  auto server = serve(hooks, 16, uncapped(ListenerStrategy::kPerWorker));
  ASSERT_TRUE(await_idle(server));
  server.request_stop();
  EXPECT_TRUE(stops(server));
}

// proves: C-STOP-04
TEST(StopWakes, ADrainWakesEveryWorker) {
  Hooks hooks;
  auto server = serve(hooks, 16, uncapped(ListenerStrategy::kPerWorker));
  ASSERT_TRUE(await_idle(server));
  std::thread drainer([&] { server.drain(600'000); });
  EXPECT_TRUE(stops(server)) << "the deadline is ten minutes away";
  server.shutdown();
  drainer.join();
}

// proves: C-STOP-05, INV-14
TEST(StopWakes, AConnectionThatAlwaysHasWorkDoesNotHideIt) {
  Hooks hooks;
  std::atomic<bool> busy{true};
  std::atomic<std::uint64_t> turns{0};
  hooks.on_open = [](const Wire&) { return Step::keep_and_return(0); };
  hooks.on_turn = [&](const Wire&) {
    ++turns;
    return busy ? Step::keep_and_return(0) : Step::keep(INTEREST_READ);
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient client(server.addresses().front());
  ASSERT_TRUE(wait_until([&] { return turns > 0; }));
  std::thread stopper([&] { server.shutdown(); });
  EXPECT_TRUE(stops(server));
  busy = false;
  stopper.join();
}

// However many ticks the drain has after its grace, a connection that stays is told once.
// proves: C-DRAIN-01
TEST(Tick, AConnectionLearnsOnceThatItsGraceIsOver) {
  Hooks hooks;
  std::atomic<int> told{0};
  hooks.on_drain = [](const Wire&) { return Step::keep(INTEREST_READ); };
  hooks.on_grace_over = [&](const Wire&) {
    ++told;
    return Step::keep(INTEREST_READ);
  };
  SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker);
  options.serving.poll_cap = std::chrono::milliseconds(5);
  HookScheduler server = serve(hooks, 1, options);
  LineClient client(server.addresses().front());
  ASSERT_EQ(client.ask("x"), "x");
  std::thread drain([&] { EXPECT_TRUE(adds_up(server.drain(60'000))); });
  EXPECT_TRUE(wait_until([&] { return told == 1; }));
  const std::uint64_t ticks = sum(server, &WorkerSnapshot::ticks);
  EXPECT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::ticks) > ticks + 5; }));
  EXPECT_EQ(told, 1);
  client.close();
  drain.join();
}

}  // namespace
}  // namespace flare::testing
