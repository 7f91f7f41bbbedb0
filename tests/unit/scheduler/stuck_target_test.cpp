// A drain while a target does not take what was handed to it: its donor stays until it can serve that itself.
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

// Worker 1 begins when the gate opens. A peer that has no beginning has no load and is not stuck, so it is handed
// clients; its own listener takes none, so that all of them are accepted by worker 0.
class LateWorker : public LineFrontend {
 public:
  explicit LateWorker(std::shared_ptr<Gate> gate)
      : LineFrontend([](const std::string&, int worker) { return std::to_string(worker); }), gate_(std::move(gate)) {}
  void run_worker(WorkerContext& context) {
    if (context.id() == 1) {
      if (!context.listeners().front()->shared()) context.listeners().front()->disable();
      gate_->pass();
    }
    LineFrontend::run_worker(context);
  }

 private:
  std::shared_ptr<Gate> gate_;
};

class SchedulerStuckTarget : public ::testing::TestWithParam<ListenerStrategy> {
 protected:
  void SetUp() override {
    SchedulerOptions options = with(GetParam());
    options.policy = HandoffPolicy(true, 64, 1);
    scheduler_ = start_any(LateWorker(gate_), 2, options);
    ASSERT_TRUE(wait_until([&] { return gate_->was_entered(); }));
    for (int i = 0; i < 8; ++i) {
      clients_.emplace_back(scheduler_.addresses().front());
      EXPECT_TRUE(clients_.back().send("x\n"));
    }
    ASSERT_TRUE(wait_until([&] { return scheduler_.stats()[1].queued > 0; }));
  }

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  Scheduler<LateWorker> scheduler_;
  const OpenAtExit open_{gate_};
  std::vector<LineClient> clients_;
};

// proves: C-DRAIN-09, C-POOL-08, INV-21, INV-22
TEST_P(SchedulerStuckTarget, IsRelievedOfItsTokensByADonorThatHasNothingElseToDo) {
  std::vector<ShutdownReport> reports;
  std::thread stop([&] { reports = scheduler_.drain(60000); });
  for (LineClient& client : clients_) {
    if (HasFailure()) break;  // each of them would wait in vain
    EXPECT_EQ(client.line(), "0");
  }
  gate_->open();
  stop.join();
  expect_sound(reports);
  EXPECT_EQ(total(reports).finished, 8);
  EXPECT_EQ(total(reports).cut, 0);
}

// proves: C-DRAIN-04, C-DRAIN-09, INV-15
TEST_P(SchedulerStuckTarget, DoesNotHoldItsDonorBeyondTheDeadline) {
  const auto reports = scheduler_.drain(100);
  expect_sound(reports);
  EXPECT_EQ(reports[0].stuck, 0);
  EXPECT_EQ(reports[1].stuck, 1);
}

// proves: C-DRAIN-09, C-STOP-06
TEST_P(SchedulerStuckTarget, ThatTakesThemLetsItsDonorLeave) {
  std::vector<ShutdownReport> reports;
  std::thread stop([&] { reports = scheduler_.drain(60000); });
  gate_->open();
  for (LineClient& client : clients_) EXPECT_TRUE(client.line());
  stop.join();
  expect_sound(reports);
  EXPECT_EQ(total(reports).finished, 8);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerStuckTarget,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
