// A drain with deferred accept: silent clients that the system kept back come up, or are reset.
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

class SchedulerDrainDeferred : public ::testing::TestWithParam<ListenerStrategy> {
 protected:
  static SchedulerOptions deferred(int seconds) {
    SchedulerOptions options = with(GetParam());
    options.listener.defer_accept_s = seconds;
    return options;
  }
};

// proves: C-DRAIN-10, INV-21
TEST_P(SchedulerDrainDeferred, ASilentClientComesUpAndSeesTheEnd) {
  auto scheduler = start_any(echo(), 2, deferred(60));
  LineClient silent(scheduler.addresses().front());
  ASSERT_TRUE(silent.connected());
  const auto reports = scheduler.drain(30000);
  EXPECT_EQ(silent.await_end(), StreamEnd::kEof);
  expect_sound(reports);
  EXPECT_EQ(total(reports).accepted, 1);
  EXPECT_EQ(total(reports).drained, 1);
  EXPECT_EQ(total(reports).cut, 0);
}

// proves: C-DRAIN-10, INV-21
TEST_P(SchedulerDrainDeferred, WhoSpeaksWhileItDrainsIsAnswered) {
  auto scheduler = start_any(echo(), 2, deferred(60));
  LineClient silent(scheduler.addresses().front());
  ASSERT_TRUE(silent.connected());
  std::vector<ShutdownReport> reports;
  std::thread drainer([&] { reports = scheduler.drain(30000); });
  scheduler.wait();  // until it has begun
  EXPECT_EQ(silent.ask("x"), "x");
  EXPECT_EQ(silent.await_end(), StreamEnd::kEof);
  drainer.join();
  expect_sound(reports);
  EXPECT_EQ(total(reports).requests, 1);
}

// proves: C-DRAIN-10
TEST_P(SchedulerDrainDeferred, WhoIsSilentLongerThanTheDrainIsReset) {
  auto scheduler = start_any(echo(), 2, deferred(60));
  LineClient silent(scheduler.addresses().front());
  ASSERT_TRUE(silent.connected());
  const auto reports = scheduler.drain(200);
  static_cast<void>(silent.send("x\n"));
  EXPECT_EQ(silent.await_end(), StreamEnd::kReset);
  expect_sound(reports);
  EXPECT_EQ(total(reports).accepted, 0) << "nobody saw it";
  EXPECT_EQ(total(reports).cut, 0);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerDrainDeferred,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
