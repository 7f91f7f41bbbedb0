// A drain with deferred accept that begins while the worker is inside a handler.
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

// Linux asks a silent client a second after it came, and next two seconds later: by then the option must be gone, if
// the worker has seen the drain or not.
// proves: C-DRAIN-10
TEST(SchedulerDeferredBusy, ASilentClientOfABusyWorkerComesUpAllTheSame) {
  const auto gate = std::make_shared<Gate>();
  SchedulerOptions options = with(ListenerStrategy::kPerWorker);
  options.listener.defer_accept_s = 60;
  auto scheduler = start_any(blocking(gate), 1, options);
  const OpenAtExit open(gate);
  LineClient busy(scheduler.addresses().front());
  ASSERT_TRUE(busy.send("block\n"));
  ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
  LineClient silent(scheduler.addresses().front());
  ASSERT_TRUE(silent.connected());
  std::vector<ShutdownReport> reports;
  std::thread drainer([&] { reports = scheduler.drain(30000); });
  scheduler.wait();  // until it has begun
  static_cast<void>(wait_until([] { return false; }, std::chrono::milliseconds(1300)));
  gate->open();
  EXPECT_EQ(busy.line(), "block");
  EXPECT_EQ(silent.await_end(), StreamEnd::kEof);
  drainer.join();
  expect_sound(reports);
  EXPECT_EQ(total(reports).accepted, 2);
}

}  // namespace
}  // namespace flare::testing
