// A start that runs out of memory, at each of its allocations.
#include <atomic>
#include <memory>
#include <new>
#include <thread>

#include "harness.h"
#include "support/fault_memory.h"

namespace flare::testing {
namespace {

class SchedulerStartMemory : public ::testing::TestWithParam<ListenerStrategy> {
 protected:
  // Starts with the allocations of this thread failing as set_faults says, until one start makes so few that none
  // fails; how many starts failed.
  static long starts_that_fail(ListenerStrategy strategy, void (*set_faults)(long nth), std::atomic<long>& begun) {
    for (long nth = 1;; ++nth) {
      begun = nth;
      const Ledger ledger;
      bool out_of_memory = false;
      {
        LineScheduler scheduler;
        SchedulerOptions options = with(strategy);
        LineFrontend frontend = echo();
        set_faults(nth);
        try {
          scheduler = start_any(std::move(frontend), 2, std::move(options));
        } catch (const std::bad_alloc&) {
          out_of_memory = true;
        }
        const long failed = faults::end_allocation_faults();
        EXPECT_EQ(out_of_memory, failed > 0) << "allocation " << nth;
        EXPECT_EQ(scheduler.is_running(), !out_of_memory) << "allocation " << nth;
        if (!out_of_memory) {
          EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
        }
      }
      EXPECT_TRUE(ledger.is_as_before()) << "allocation " << nth;
      if (!out_of_memory || HasFailure()) return nth - 1;
    }
  }
  // The same on a thread of its own, which is left behind when a start does not come back.
  static long starts_that_return(ListenerStrategy strategy, void (*set_faults)(long nth)) {
    struct Progress {
      std::atomic<long> begun{0};
      std::atomic<long> failed{-1};
    };
    const auto progress = std::make_shared<Progress>();
    std::thread starts([=] { progress->failed = starts_that_fail(strategy, set_faults, progress->begun); });
    for (long seen = -1; progress->failed < 0;) {
      if (!wait_until([&] { return progress->failed >= 0 || progress->begun != seen; })) {
        starts.detach();
        ADD_FAILURE() << "the start whose allocation " << seen << " failed does not come back";
        return 0;
      }
      seen = progress->begun;
    }
    starts.join();
    return progress->failed;
  }
  void SetUp() override { auto warm = start_any(echo(), 2, with(GetParam())); }
};

// proves: C-START-02, INV-12
TEST_P(SchedulerStartMemory, EveryAllocationMayFailAndLeavesNothingBehind) {
  EXPECT_GT(starts_that_return(GetParam(), faults::fail_allocation), 20);
}

// The threads that had started must be stopped without any memory.
// proves: C-START-02, C-STOP-01, C-STOP-08, INV-12
TEST_P(SchedulerStartMemory, WhenMemoryStaysShortNothingIsLeftBehindEither) {
  EXPECT_GT(starts_that_return(GetParam(), faults::fail_allocations_from), 20);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerStartMemory,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
