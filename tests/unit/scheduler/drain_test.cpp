// What a drain answers, what it cuts, and whom it refuses.
#include <cerrno>
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

class SchedulerDrain : public ::testing::TestWithParam<ListenerStrategy> {};

// Runs drain(timeout) on another thread and joins it.
class Drainer {
 public:
  Drainer(LineScheduler& scheduler, int timeout_ms)
      : thread_([this, &scheduler, timeout_ms] { reports_ = scheduler.drain(timeout_ms); }) {
    scheduler.wait();  // until it has begun
  }
  ~Drainer() {
    if (thread_.joinable()) thread_.join();
  }
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;
  const std::vector<ShutdownReport>& reports() {
    if (thread_.joinable()) thread_.join();
    return reports_;
  }

 private:
  std::vector<ShutdownReport> reports_;
  std::thread thread_;
};

// proves: C-DRAIN-01, INV-21, C-REPORT-03
TEST_P(SchedulerDrain, ARequestInFlightAndWhatIsPipelinedBehindItIsAnsweredInOrder) {
  const auto gate = std::make_shared<Gate>();
  auto scheduler = start_any(blocking(gate), 2, with(GetParam()));
  const OpenAtExit open(gate);
  LineClient client(scheduler.addresses().front());
  EXPECT_TRUE(client.send("block\na\nb\nc\n"));
  ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
  Drainer drainer(scheduler, 30000);
  gate->open();
  for (const char* expected : {"block", "a", "b", "c"}) EXPECT_EQ(client.line(), expected);
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  expect_sound(drainer.reports());
  const ShutdownReport sum = total(drainer.reports());
  EXPECT_EQ(sum.cut, 0);
  EXPECT_EQ(sum.requests, 4);
  EXPECT_EQ(sum.finished, 1);
  EXPECT_EQ(sum.drained, 1);
}

// proves: C-DRAIN-01, C-DRAIN-03, C-REPORT-03
TEST_P(SchedulerDrain, IdleAndSilentClientsSeeTheEndAndAreCountedAsDrained) {
  auto scheduler = start_any(echo(), 2, with(GetParam()));
  const SocketAddress address = scheduler.addresses().front();
  std::vector<LineClient> idle;
  for (int i = 0; i < 6; ++i) {
    idle.emplace_back(address);
    if (i % 2 == 0) {
      EXPECT_EQ(idle.back().ask("x"), "x");
    }
  }
  ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 6; }));
  const auto reports = scheduler.drain(30000);
  for (LineClient& client : idle) EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  expect_sound(reports);
  const ShutdownReport sum = total(reports);
  EXPECT_EQ(sum.drained, 6);
  EXPECT_EQ(because(sum, CloseReason::kIdleDrained), 6);
  EXPECT_EQ(sum.cut, 0);
  EXPECT_EQ(sum.in_flight_at_deadline, 0);
}

// proves: C-DRAIN-01, INV-21
TEST_P(SchedulerDrain, AHalfSentRequestIsAnsweredWhenItsRestComesBeforeTheDeadline) {
  auto scheduler = start_any(echo(), 2, with(GetParam()));
  LineClient client(scheduler.addresses().front());
  EXPECT_EQ(client.ask("first"), "first");
  EXPECT_TRUE(client.send("sec"));
  const auto one_more = [&] { return live(scheduler.stats()) == 1; };
  ASSERT_TRUE(wait_until(one_more));
  Drainer drainer(scheduler, 60000);
  // Refused: the worker has gone through its grace, and waits for the rest of this request only.
  ASSERT_TRUE(wait_until([&] { return LineClient(scheduler.addresses().front()).connect_error() == ECONNREFUSED; }));
  EXPECT_TRUE(client.send("ond\n"));
  EXPECT_EQ(client.line(), "second");
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  expect_sound(drainer.reports());
  EXPECT_EQ(total(drainer.reports()).cut, 0);
  EXPECT_GE(total(drainer.reports()).drained, 1);
}

// proves: C-DRAIN-04, C-REPORT-03, INV-21
TEST_P(SchedulerDrain, AHalfSentRequestThatNeverEndsIsCutAtTheDeadline) {
  const Ledger ledger;
  {
    auto scheduler = start_any(echo(), 2, with(GetParam()));
    LineClient client(scheduler.addresses().front());
    EXPECT_TRUE(client.send("hal"));
    LineClient asked(scheduler.addresses().front());
    EXPECT_EQ(asked.ask("x"), "x");
    ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 2; }));
    const auto before = std::chrono::steady_clock::now();
    const auto reports = scheduler.drain(300);
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(300)) << "not before its deadline";
    EXPECT_NE(client.await_end(), StreamEnd::kOpen);
    EXPECT_EQ(asked.await_end(), StreamEnd::kEof);
    expect_sound(reports);
    const ShutdownReport sum = total(reports);
    EXPECT_EQ(sum.drained, 1);
    EXPECT_EQ(sum.in_flight_at_deadline, 1);
    EXPECT_EQ(sum.cut, sum.timed_out) << "nothing else was cut";
    EXPECT_EQ(sum.timed_out + sum.left, 1) << "left: on a machine so busy that the worker was late for the cut";
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-DRAIN-05, C-STOP-01, C-REPORT-03
TEST_P(SchedulerDrain, ATimeoutOfZeroOrLessCutsAtOnce) {
  for (const int timeout : {0, -1, -2147483647 - 1}) {
    auto scheduler = start_any(echo(), 2, with(GetParam()));
    std::vector<LineClient> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back(scheduler.addresses().front());
      EXPECT_EQ(clients.back().ask("x"), "x");
    }
    const auto reports = scheduler.drain(timeout);
    for (LineClient& client : clients) EXPECT_NE(client.await_end(), StreamEnd::kOpen);
    expect_sound(reports);
    const ShutdownReport sum = total(reports);
    EXPECT_EQ(sum.drained, 0);
    EXPECT_EQ(sum.finished, 0);
    EXPECT_EQ(sum.cut, 4);
    EXPECT_EQ(sum.timed_out, 4);
    EXPECT_EQ(sum.in_flight_at_deadline, 4);
  }
}

// proves: C-DRAIN-05
TEST_P(SchedulerDrain, WithoutADeadlineItWaitsForAHandlerHoweverLong) {
  for (const bool zero : {false, true}) {
    const auto gate = std::make_shared<Gate>();
    auto scheduler = start_any(blocking(gate), 2, with(GetParam()));
    const OpenAtExit open(gate);
    LineClient client(scheduler.addresses().front());
    EXPECT_TRUE(client.send("block\n"));
    ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
    std::atomic<bool> over{false};
    std::vector<ShutdownReport> reports;
    std::thread stopper([&] {
      if (zero) reports = scheduler.drain(0);
      if (!zero) scheduler.shutdown();
      over = true;
    });
    // Refused: the cut has been made. From now on a stop that detached would be over within the join grace.
    EXPECT_TRUE(wait_until([&] { return LineClient(scheduler.addresses().front()).connect_error() == ECONNREFUSED; }));
    EXPECT_FALSE(wait_until([&] { return over.load(); }, 3 * limits::kJoinGrace));
    EXPECT_TRUE(scheduler.is_running());
    gate->open();
    stopper.join();
    EXPECT_FALSE(scheduler.is_running());
    if (zero) {
      expect_sound(reports);
      EXPECT_EQ(total(reports).stuck, 0);
      EXPECT_GE(total(reports).cut, 1) << "and those that found out whether clients are refused";
    }
  }
}

// proves: C-DRAIN-03
TEST_P(SchedulerDrain, AfterTheDrainClientsAreRefusedOnEveryAddress) {
  const SocketAddress any = own_loopback();
  auto scheduler = LineScheduler::start(any, echo(), 3, true, {any}, with(GetParam()));
  const auto addresses = scheduler.addresses();
  for (const SocketAddress& address : addresses) EXPECT_EQ(LineClient(address).ask("x"), "x");
  expect_sound(scheduler.drain(10000));
  for (const SocketAddress& address : addresses) EXPECT_EQ(LineClient(address).connect_error(), ECONNREFUSED);
  EXPECT_EQ(scheduler.addresses().size(), 2U) << "what it was bound to can still be read";
}

// proves: C-DRAIN-01, C-DRAIN-03, INV-21
TEST_P(SchedulerDrain, WhoConnectsDuringTheGraceIsServedOrRefusedAndNeverLeftWaiting) {
  auto scheduler = start_any(echo(), 2, with(GetParam()));
  const SocketAddress address = scheduler.addresses().front();
  LineClient half(address);
  EXPECT_TRUE(half.send("hold the accept phase open"));
  ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));
  Drainer drainer(scheduler, 2000);
  int served = 0;
  int reset = 0;
  for (;;) {
    LineClient client(address);
    if (!client.connected()) {
      if (client.connect_error() == ECONNRESET) {
        ++reset;  // the same, seen by connect already
        continue;
      }
      EXPECT_EQ(client.connect_error(), ECONNREFUSED);
      break;
    }
    if (client.ask("x") == "x") {
      ++served;
    } else {
      EXPECT_NE(client.await_end(), StreamEnd::kOpen) << "neither served nor refused";
      ++reset;  // completed by the kernel between the last accept and the disabling (decision 21)
    }
  }
  RecordProperty("served", served);
  EXPECT_LE(reset, 2) << "at most one for each listener";
  half.close();
  expect_sound(drainer.reports());
  EXPECT_GE(total(drainer.reports()).finished, served);
}

// proves: C-DRAIN-01
TEST_P(SchedulerDrain, ADrainOfAnIdleServerEndsLongBeforeItsDeadline) {
  auto scheduler = start_any(echo(), 4, with(GetParam()));
  const auto before = std::chrono::steady_clock::now();
  const auto reports = scheduler.drain(600000);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::minutes(1));
  EXPECT_EQ(reports.size(), 4U);
  expect_sound(reports);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerDrain,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
