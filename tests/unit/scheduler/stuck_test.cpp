// A handler that does not return: what a drain does about it, and what becomes of it when it returns at last.
#include <cerrno>
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTimeoutMs = 200;

class SchedulerStuck : public ::testing::TestWithParam<ListenerStrategy> {};

// How long a drain takes whose connection does not end, with a worker that is well.
Clock::duration drain_without_a_stuck_worker(ListenerStrategy strategy) {
  auto scheduler = start_any(echo(), 2, with(strategy));
  LineClient half(scheduler.addresses().front());
  EXPECT_TRUE(half.send("half"));
  EXPECT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));
  const auto before = Clock::now();
  expect_sound(scheduler.drain(kTimeoutMs));
  return Clock::now() - before;
}

// proves: C-DRAIN-04, C-DRAIN-06, C-REPORT-04, INV-15
TEST_P(SchedulerStuck, ADrainLeavesItBehindWithinTheJoinGraceAndReportsIt) {
  const Clock::duration control = drain_without_a_stuck_worker(GetParam());
  const Ledger ledger;
  const auto gate = std::make_shared<Gate>();
  {
    const OpenAtExit open(gate);
    auto scheduler = start_any(blocking(gate), 2, with(GetParam()));
    const SocketAddress address = scheduler.addresses().front();
    LineClient client(address);
    EXPECT_TRUE(client.send("block\n"));
    ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
    const auto before = Clock::now();
    const auto reports = scheduler.drain(kTimeoutMs);
    const Clock::duration elapsed = Clock::now() - before;
    // The slack is for a machine that does other things too; a drain that joined would never return.
    EXPECT_LT(elapsed, control + limits::kJoinGrace + std::chrono::seconds(2));
    EXPECT_GE(elapsed, std::chrono::milliseconds(kTimeoutMs));
    EXPECT_FALSE(scheduler.is_running());
    EXPECT_EQ(LineClient(address).connect_error(), ECONNREFUSED) << "right after the drain";
    ASSERT_EQ(reports.size(), 2U);
    expect_sound(reports);
    const ShutdownReport sum = total(reports);
    EXPECT_EQ(sum.stuck, 1);
    EXPECT_EQ(sum.left, 1);
    EXPECT_EQ(sum.in_flight_at_deadline, 1);
    EXPECT_EQ(sum.cut, 0);
    for (const ShutdownReport& one : reports) EXPECT_EQ(one.stuck, one.left);
    EXPECT_TRUE(scheduler.drain(10).empty());
    scheduler.shutdown();  // over: it does not wait for the one that was left behind
    EXPECT_EQ(scheduler.stats().size(), 2U);
  }
  // The scheduler is gone. The handler returns now, and its worker ends by itself.
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-DRAIN-06, C-NET-03, INV-11, INV-15
TEST_P(SchedulerStuck, ANewServerOnThePortGetsEveryClientWhileTheOldWorkerLivesAndAfterwards) {
  for (const auto next : {ListenerStrategy::kPerWorker, ListenerStrategy::kShared}) {
    const Ledger ledger;
    const auto gate = std::make_shared<Gate>();
    {
      const OpenAtExit open(gate);
      auto old = start_any(blocking(gate), 2, with(GetParam()));
      const SocketAddress address = old.addresses().front();
      LineClient held(address);
      EXPECT_TRUE(held.send("block\n"));
      ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
      EXPECT_EQ(total(old.drain(20)).stuck, 1);
      const LineFrontend newer([](const std::string& line, int) { return "new " + line; });
      auto scheduler = start_on(address, newer, 2, with(next));
      const auto all_are_served = [&](const char* when) {
        std::vector<LineClient> clients;
        for (int i = 0; i < 64; ++i) clients.emplace_back(address);
        for (LineClient& client : clients) EXPECT_EQ(client.ask("x"), "new x") << when;
      };
      all_are_served("while the old worker is stuck");
      gate->open();
      EXPECT_NE(held.await_end(), StreamEnd::kOpen);
      all_are_served("after the old worker ended");
      const auto reports = scheduler.drain(5000);
      expect_sound(reports);
      EXPECT_EQ(total(reports).accepted, 128);
    }
    EXPECT_TRUE(ledger.is_as_before());
  }
}

// proves: C-DRAIN-06, C-DRAIN-08, C-REPORT-02, INV-07
TEST_P(SchedulerStuck, TokensInItsQueueAreClosedAndCountedByTheControlThread) {
  // A busy machine may take so long that the peers see that the worker is stuck before they push: then once more.
  std::int64_t queued = 0;
  for (int attempt = 0; attempt < 50 && queued == 0; ++attempt) {
    const Ledger ledger;
    const auto gate = std::make_shared<Gate>();
    {
      const OpenAtExit open(gate);
      SchedulerOptions options = with(GetParam());
      options.policy = HandoffPolicy(true, 64, 1);
      auto scheduler = start_any(blocking(gate), 2, options);
      std::vector<LineClient> clients;
      for (int i = 0; i < 4; ++i) {
        clients.emplace_back(scheduler.addresses().front());
        EXPECT_EQ(clients.back().ask("x"), "x");
      }
      EXPECT_TRUE(clients.front().send("block\n"));
      ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
      std::vector<LineClient> more;
      for (int i = 0; i < 16; ++i) more.emplace_back(scheduler.addresses().front());
      const auto depth = [&] {
        std::int64_t sum = 0;
        for (const WorkerSnapshot& one : scheduler.stats()) sum += static_cast<std::int64_t>(one.queued);
        return sum;
      };
      wait_until([&] { return depth() > 0; }, std::chrono::milliseconds(50));
      const auto reports = scheduler.drain(50);
      expect_sound(reports);
      const ShutdownReport sum = total(reports);
      ASSERT_EQ(sum.stuck, 1);
      const ShutdownReport& stuck = reports[0].stuck == 1 ? reports[0] : reports[1];
      EXPECT_EQ(stuck.cut, stuck.timed_out) << "what was cut there, the control thread took out of the queue";
      EXPECT_EQ(stuck.in_flight_at_deadline, stuck.cut + stuck.left);
      queued = stuck.cut;
      int closed = 0;
      for (LineClient& client : more)
        closed += client.await_end(std::chrono::milliseconds(20)) == StreamEnd::kOpen ? 0 : 1;
      EXPECT_GE(closed, queued) << "their sockets are closed although the worker is still stuck";
    }
    EXPECT_TRUE(ledger.is_as_before());
  }
  EXPECT_GT(queued, 0);
}

// proves: C-DRAIN-06, INV-15, INV-16
TEST_P(SchedulerStuck, AFrontendThatBeginsAfterItWasLeftBehindAcceptsNothing) {
  const Ledger ledger;
  const auto gate = std::make_shared<Gate>();
  class Late : public LineFrontend {
   public:
    Late(std::shared_ptr<Gate> held, LineHandler handler) : LineFrontend(std::move(handler)), gate_(std::move(held)) {}
    void run_worker(WorkerContext& context) {
      gate_->pass();
      LineFrontend::run_worker(context);
    }

   private:
    std::shared_ptr<Gate> gate_;
  };
  const auto handled = std::make_shared<std::atomic<int>>(0);
  {
    const OpenAtExit open(gate);
    auto scheduler = start_any(Late(gate,
                                    [handled](const std::string& line, int) {
                                      ++*handled;
                                      return line;
                                    }),
                               2, with(GetParam()));
    ASSERT_TRUE(wait_until([&] { return gate->was_entered(2); }));
    LineClient waiting(scheduler.addresses().front());
    EXPECT_TRUE(waiting.send("x\n"));
    const auto reports = scheduler.drain(20);
    EXPECT_EQ(total(reports).stuck, 2);
    expect_sound(reports);
    EXPECT_NE(waiting.await_end(), StreamEnd::kOpen) << "its listener was disabled, nobody left it waiting";
  }
  EXPECT_TRUE(ledger.is_as_before());
  EXPECT_EQ(handled->load(), 0);
}

// proves: C-DRAIN-06, INV-13
TEST_P(SchedulerStuck, AWorkerThatThrowsAfterItWasLeftBehindHarmsNobody) {
  const Ledger ledger;
  const auto gate = std::make_shared<Gate>();
  {
    const OpenAtExit open(gate);
    class Throwing : public LineFrontend {
     public:
      explicit Throwing(std::shared_ptr<Gate> held)
          : LineFrontend([](const std::string& line, int) { return line; }), gate_(std::move(held)) {}
      void run_worker(WorkerContext&) {
        gate_->pass();
        throw std::runtime_error("late and broken");
      }

     private:
      std::shared_ptr<Gate> gate_;
    };
    SchedulerOptions options = with(GetParam());
    Lines lines;
    options.serving.error_sink = lines.sink();
    auto scheduler = start_any(Throwing(gate), 2, options);
    ASSERT_TRUE(wait_until([&] { return gate->was_entered(2); }));
    EXPECT_EQ(total(scheduler.drain(20)).stuck, 2);
    EXPECT_EQ(scheduler.crashed_worker_count(), 0) << "not when the drain ended";
  }
  EXPECT_TRUE(ledger.is_as_before());
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerStuck,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
