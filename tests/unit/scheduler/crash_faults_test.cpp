// A worker whose poll fails: under load, with clients in its backlog, and what a failed registration costs.
#include <cerrno>
#include <thread>

#include "harness.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

using faults::Symbol;

class SchedulerPollFailure : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-CRASH-01, C-CRASH-03, C-REPORT-01, C-REPORT-04, INV-22
TEST_P(SchedulerPollFailure, UnderLoadTheOthersServeOnAndTheReportsAddUp) {
  for (const bool handoff : {false, true}) {
    const faults::Scope scope;
    const Ledger ledger;
    {
      SchedulerOptions options = with(GetParam());
      options.policy = HandoffPolicy(handoff, 64, 1);
      options.serving.poll_cap = std::chrono::milliseconds(-1);  // a wake that the crash loses is lost
      auto scheduler = start_any(echo(), 3, options);
      const SocketAddress address = scheduler.addresses().front();
      std::atomic<bool> stop{false};
      std::atomic<int> answers{0};
      std::atomic<int> refused{0};
      constexpr int kClients = 4;
      std::vector<std::thread> load;
      for (int i = 0; i < kClients; ++i) {
        load.emplace_back([&, keep = i % 2 == 0] {
          LineClient client;
          while (!stop) {
            if (!keep && client.connected()) client.reset();  // no port is left in TIME_WAIT
            if (!client.connected()) client = LineClient(address);
            if (!client.connected()) ++refused;
            if (client.connected() && client.ask("x") == "x") {
              ++answers;
            } else {
              client.close();
            }
          }
        });
      }
      EXPECT_TRUE(wait_until([&] { return answers > 100; }));
      // Some calls ahead: others are made while the rule is being set.
      faults::fail(Symbol::kEpollWait, 30, EBADF);
      EXPECT_TRUE(wait_until([&] { return scheduler.crashed_worker_count() == 1; }));
      EXPECT_EQ(faults::injected(Symbol::kEpollWait), 1);
      std::string text;
      for (const WorkerSnapshot& one : scheduler.stats()) text += one.error;
      EXPECT_NE(text.find("Reactor::poll: Bad file descriptor"), std::string::npos) << text;
      const int before = answers;
      EXPECT_TRUE(wait_until([&] { return answers > before + 500; })) << "the others go on";
      EXPECT_TRUE(scheduler.is_running());
      stop = true;
      for (std::thread& client : load) client.join();
      // Linux resets a client whose handshake is under way when its listener is closed: of each client there can be one
      // such connect. The peers' listeners are not closed, nor is a shared one.
      EXPECT_LE(refused, GetParam() == ListenerStrategy::kPerWorker ? kClients : 0);
      for (int i = 0; i < 30; ++i) EXPECT_EQ(LineClient(address).ask("x"), "x");
      const auto reports = scheduler.drain(5000);
      expect_sound(reports);
      EXPECT_EQ(total(reports).crashed, 1);
      for (const ShutdownReport& one : reports) EXPECT_EQ(one.crashed == 1, !one.error.empty());
      for (const ShutdownReport& one : reports) EXPECT_EQ(one.timed_out, 0) << "a crash is no deadline";
    }
    EXPECT_TRUE(ledger.is_as_before());
  }
}

// proves: C-CRASH-02, INV-06, INV-17
TEST_P(SchedulerPollFailure, ItsBacklogIsServedByThePeerWithinOneWake) {
  const faults::Scope scope;
  const auto gate = std::make_shared<Gate>();
  SchedulerOptions options = with(GetParam());
  options.serving.poll_cap = std::chrono::milliseconds(-1);
  // The worker that was blocked breaks its own next poll, so that no other one's can be hit.
  const LineFrontend frontend([gate](const std::string& line, int) {
    if (line != "block") return line;
    gate->pass();
    faults::fail_on_this_thread(Symbol::kEpollWait, EBADF);
    return line;
  });
  auto scheduler = start_any(frontend, 2, options);
  const OpenAtExit open(gate);
  LineClient own(scheduler.addresses().front());
  EXPECT_TRUE(own.send("block\n"));
  ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
  std::vector<LineClient> clients;
  for (int i = 0; i < 40; ++i) clients.emplace_back(scheduler.addresses().front());
  // The peer has taken what it can and sleeps without an end.
  const auto peer_rests = [&] {
    for (const WorkerSnapshot& one : scheduler.stats()) {
      if (one.sleeping && one.accepted > 0) return true;
    }
    return false;
  };
  ASSERT_TRUE(wait_until(peer_rests));
  gate->open();
  EXPECT_EQ(own.line(), "block");
  for (LineClient& client : clients) EXPECT_EQ(client.ask("x"), "x");
  EXPECT_NE(own.await_end(), StreamEnd::kOpen);
  const auto reports = scheduler.drain(5000);
  expect_sound(reports);
  EXPECT_EQ(total(reports).crashed, 1);
  EXPECT_EQ(total(reports).cut, 1) << "its own live connection";
  EXPECT_EQ(total(reports).finished, 40);
}

// proves: C-CRASH-03, C-STOP-06
TEST_P(SchedulerPollFailure, WhenEveryPollFailsTheServerIsOver) {
  const faults::Scope scope;
  const Ledger ledger;
  {
    auto scheduler = start_any(echo(), 3, with(GetParam()));
    std::vector<LineClient> clients;
    for (int i = 0; i < 9; ++i) {
      clients.emplace_back(scheduler.addresses().front());
      EXPECT_EQ(clients.back().ask("x"), "x");
    }
    faults::fail(Symbol::kEpollWait, 1, EINVAL, faults::kForEver);
    scheduler.wait();
    EXPECT_TRUE(wait_until([&] { return !scheduler.is_running(); }));
    EXPECT_EQ(scheduler.crashed_worker_count(), 3);
    EXPECT_EQ(LineClient(scheduler.addresses().front()).connect_error(), ECONNREFUSED);
    for (LineClient& client : clients) EXPECT_NE(client.await_end(), StreamEnd::kOpen);
    const auto reports = scheduler.drain(1000);
    expect_sound(reports);
    EXPECT_EQ(total(reports).cut, 9);
    EXPECT_EQ(total(reports).timed_out, 0);
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-REPORT-03, C-SERVE-05, INV-22
TEST_P(SchedulerPollFailure, AConnectionThatCannotBeRegisteredCostsItselfAndIsCountedAsSetup) {
  const faults::Scope scope;
  auto scheduler = start_any(echo(), 1, with(GetParam()));
  EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
  ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 0; }));
  faults::fail(Symbol::kEpollCtl, 1, ENOSPC);
  LineClient unlucky(scheduler.addresses().front());
  EXPECT_NE(unlucky.await_end(), StreamEnd::kOpen);
  EXPECT_EQ(faults::injected(Symbol::kEpollCtl), 1);
  EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
  const auto reports = scheduler.drain(2000);
  expect_sound(reports);
  EXPECT_EQ(because(reports[0], CloseReason::kSetupFailed), 1);
  EXPECT_EQ(because(reports[0], CloseReason::kHandlerThrew), 0);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerPollFailure,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
