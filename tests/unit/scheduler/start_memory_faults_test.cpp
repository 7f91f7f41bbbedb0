// A start that runs out of memory, at each of its allocations.
#include <cstdlib>
#include <new>

#include "harness.h"

namespace flare::testing {
namespace {

// The allocation of this thread that fails: 1 is the next one, 0 none.
thread_local long failing_allocation = 0;

bool this_one_fails() {
  return failing_allocation > 0 && --failing_allocation == 0;
}

class SchedulerStartMemory : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-START-02, INV-12
TEST_P(SchedulerStartMemory, EveryAllocationMayFailAndLeavesNothingBehind) {
  {
    auto warm = start_any(echo(), 2, with(GetParam()));
  }
  long failed = 0;
  for (long nth = 1;; ++nth) {
    const Ledger ledger;
    bool out_of_memory = false;
    {
      LineScheduler scheduler;
      try {
        SchedulerOptions options = with(GetParam());
        LineFrontend frontend = echo();
        failing_allocation = nth;
        scheduler = start_any(std::move(frontend), 2, std::move(options));
      } catch (const std::bad_alloc&) {
        out_of_memory = true;
      }
      const bool reached = failing_allocation == 0;
      failing_allocation = 0;
      ASSERT_EQ(out_of_memory, reached) << "allocation " << nth;
      if (!out_of_memory) {
        EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
      }
    }
    ASSERT_TRUE(ledger.is_as_before()) << "allocation " << nth;
    if (!out_of_memory) break;
    ++failed;
  }
  EXPECT_GT(failed, 20);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerStartMemory,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing

// What the linker puts in place of operator new in all that is linked statically here (WRAP _Znwm).
extern "C" {
void* __real__Znwm(std::size_t size);
void* __wrap__Znwm(std::size_t size);
}

void* __wrap__Znwm(std::size_t size) {
  if (flare::testing::this_one_fails()) throw std::bad_alloc();
  return __real__Znwm(size);
}
