// request_stop: in a real signal handler, while draining, and what a second drain does to the deadline.
#include <csignal>
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

using Clock = std::chrono::steady_clock;

LineScheduler* g_target = nullptr;
std::atomic<int> g_handled{0};

void on_term(int) {
  g_target->request_stop();
  g_handled.fetch_add(1);
}

// Handles SIGTERM by on_term for a scope.
struct TermHandler {
  explicit TermHandler(LineScheduler& target) {
    g_target = &target;
    g_handled = 0;
    struct sigaction action = {};
    action.sa_handler = on_term;
    ::sigaction(SIGTERM, &action, &before);
  }
  ~TermHandler() { ::sigaction(SIGTERM, &before, nullptr); }
  TermHandler(const TermHandler&) = delete;
  TermHandler& operator=(const TermHandler&) = delete;
  struct sigaction before = {};
};

class SchedulerSignal : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-STOP-03, INV-16
TEST_P(SchedulerSignal, RequestStopInASignalHandlerEndsWaitAndDrains) {
  const auto gate = std::make_shared<Gate>();
  auto scheduler = start_any(blocking(gate), 2, with(GetParam()));
  const OpenAtExit open(gate);
  const TermHandler handler(scheduler);
  LineClient busy(scheduler.addresses().front());
  EXPECT_TRUE(busy.send("block\n"));
  ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
  const pthread_t main_thread = ::pthread_self();
  std::thread killer([&] { ::pthread_kill(main_thread, SIGTERM); });
  scheduler.wait();  // the handler interrupts it, and wakes it
  killer.join();
  EXPECT_TRUE(wait_until([] { return g_handled.load() == 1; }));
  EXPECT_TRUE(scheduler.is_running());
  gate->open();
  const auto reports = scheduler.drain(10000);
  EXPECT_EQ(busy.line(), "block") << "a request in flight is answered";
  expect_sound(reports);
  EXPECT_EQ(total(reports).cut, 0);
}

// proves: C-STOP-03
TEST_P(SchedulerSignal, TheSecondSignalCutsWhatIsLeft) {
  const Ledger ledger;
  {
    auto scheduler = start_any(echo(), 2, with(GetParam()));
    const TermHandler handler(scheduler);
    LineClient half(scheduler.addresses().front());
    EXPECT_TRUE(half.send("never finish"));
    ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));
    ASSERT_EQ(::raise(SIGTERM), 0);
    scheduler.wait();
    EXPECT_TRUE(scheduler.is_running()) << "a stop without a deadline waits for the half request";
    ASSERT_EQ(::raise(SIGTERM), 0);
    EXPECT_TRUE(wait_until([&] { return !scheduler.is_running(); }));
    EXPECT_NE(half.await_end(), StreamEnd::kOpen);
    const auto reports = scheduler.drain(1000);
    expect_sound(reports);
    EXPECT_EQ(total(reports).timed_out, 1);
    EXPECT_EQ(total(reports).drained, 0);
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-STOP-03, C-DRAIN-07
TEST_P(SchedulerSignal, ASignalDuringADrainCutsItAtOnce) {
  auto scheduler = start_any(echo(), 2, with(GetParam()));
  const TermHandler handler(scheduler);
  LineClient half(scheduler.addresses().front());
  EXPECT_TRUE(half.send("never finish"));
  ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));
  const pthread_t main_thread = ::pthread_self();
  std::thread killer([&] {
    scheduler.wait();  // the drain has begun
    ::pthread_kill(main_thread, SIGTERM);
  });
  const auto before = Clock::now();
  const auto reports = scheduler.drain(600000);
  EXPECT_LT(Clock::now() - before, std::chrono::minutes(1)) << "the deadline was ten minutes away";
  killer.join();
  expect_sound(reports);
  EXPECT_EQ(total(reports).in_flight_at_deadline, 1);
}

// proves: C-DRAIN-07
TEST_P(SchedulerSignal, ASecondDrainOnlyBringsTheDeadlineNearer) {
  for (const bool nearer_first : {false, true}) {
    auto scheduler = start_any(echo(), 2, with(GetParam()));
    LineClient half(scheduler.addresses().front());
    EXPECT_TRUE(half.send("never finish"));
    ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));
    std::size_t second_reports = 99;
    const auto before = Clock::now();
    std::thread second([&] {
      scheduler.wait();
      second_reports = scheduler.drain(nearer_first ? 600000 : 100).size();
    });
    const auto reports = scheduler.drain(nearer_first ? 100 : 600000);
    second.join();
    const auto elapsed = Clock::now() - before;
    EXPECT_GE(elapsed, std::chrono::milliseconds(100)) << "neither deadline was earlier";
    EXPECT_LT(elapsed, std::chrono::minutes(1)) << "the later deadline was ten minutes away";
    EXPECT_EQ(reports.size(), 2U);
    EXPECT_EQ(second_reports, 0U);
    expect_sound(reports);
    EXPECT_EQ(total(reports).in_flight_at_deadline, 1);
  }
}

// proves: C-DRAIN-05, C-DRAIN-07
TEST_P(SchedulerSignal, ShutdownDuringADrainMovesTheDeadlineToNow) {
  auto scheduler = start_any(echo(), 2, with(GetParam()));
  LineClient half(scheduler.addresses().front());
  EXPECT_TRUE(half.send("never finish"));
  ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));
  std::thread second([&] {
    scheduler.wait();
    scheduler.shutdown();
  });
  const auto before = Clock::now();
  const auto reports = scheduler.drain(600000);
  EXPECT_LT(Clock::now() - before, std::chrono::minutes(1));
  second.join();
  EXPECT_EQ(reports.size(), 2U);
  EXPECT_EQ(total(reports).in_flight_at_deadline, 1);
}

// The handler interrupts the very thread that stops, at any of its steps, with any of its locks held. Each signal waits
// for the one before, so that the thread gets on between them.
// field-bugs B07
// proves: C-STOP-03
TEST_P(SchedulerSignal, SignalsThatInterruptTheStopDoNotHangIt) {
  int handled = 0;
  for (int round = 0; round < 30; ++round) {
    auto scheduler = start_any(echo(), 2, with(GetParam()));
    const TermHandler handler(scheduler);
    const pthread_t stopper = ::pthread_self();
    std::atomic<bool> over{false};
    std::atomic<int> sent{0};
    std::thread sender([&] {
      while (!over && sent < 200) {
        ::pthread_kill(stopper, SIGTERM);
        ++sent;
        while (!over && g_handled < sent) std::this_thread::yield();
      }
    });
    std::size_t reports = 2;
    if (round % 2 == 0) scheduler.shutdown();
    if (round % 2 == 1) reports = scheduler.drain(1000).size();
    EXPECT_EQ(reports, 2U);
    EXPECT_FALSE(scheduler.is_running());
    over = true;
    sender.join();
    EXPECT_TRUE(wait_until([&] { return g_handled == sent; }));
    handled += g_handled;
  }
  EXPECT_GT(handled, 0);
}

// proves: C-STOP-03
TEST_P(SchedulerSignal, RequestStopFromManyThreadsWhileTheStopEndsTouchesNothingFreed) {
  for (int round = 0; round < 20; ++round) {
    auto scheduler = start_any(echo(), 2, with(GetParam()));
    std::atomic<bool> over{false};
    std::vector<std::thread> askers;
    for (int i = 0; i < 3; ++i) {
      askers.emplace_back([&] {
        while (!over) scheduler.request_stop();
      });
    }
    const auto reports = scheduler.drain(1000);
    over = true;
    for (std::thread& asker : askers) asker.join();
    EXPECT_EQ(reports.size(), 2U);
    expect_sound(reports);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerSignal,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
