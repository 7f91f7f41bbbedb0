// Two threads stop one server at once.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "harness.h"
#include "support/thread_state.h"

namespace flare::testing {
namespace {

class SchedulerStopTwice : public ::testing::TestWithParam<ListenerStrategy> {};

// A worker is held in its handler, so that the first call's stop can't end; the second one must then sleep as well.
// proves: C-DRAIN-07
TEST_P(SchedulerStopTwice, OfTwoDrainsNoneReturnsBeforeTheStopIsOver) {
  struct Caller {
    std::atomic<int> id{0};
    std::vector<ShutdownReport> reports;
    std::thread thread;
  };
  const auto gate = std::make_shared<Gate>();
  auto scheduler = start_any(blocking(gate), 2, with(GetParam()));
  LineClient client(scheduler.addresses().front());
  EXPECT_TRUE(client.send("block\n"));
  EXPECT_TRUE(wait_until([&] { return gate->was_entered(); }));
  std::atomic<int> returned{0};
  std::array<Caller, 2> callers;
  for (Caller& caller : callers) {
    caller.thread = std::thread([&] {
      caller.id = ::gettid();
      caller.reports = scheduler.drain(60'000);
      ++returned;
    });
  }
  // A caller that meets the other one's lock sleeps, too, but not for long.
  int looks = 0;
  EXPECT_TRUE(wait_until([&] {
    const bool both = std::all_of(callers.begin(), callers.end(), [](const Caller& one) { return is_asleep(one.id); });
    looks = both ? looks + 1 : 0;
    return returned > 0 || looks == 20;
  }));
  EXPECT_EQ(returned, 0) << "while a handler runs";
  EXPECT_TRUE(scheduler.is_running());
  gate->open();
  for (Caller& caller : callers) caller.thread.join();
  EXPECT_EQ(callers[0].reports.size() + callers[1].reports.size(), 2U);
  expect_sound(callers[0].reports.empty() ? callers[1].reports : callers[0].reports);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerStopTwice,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
