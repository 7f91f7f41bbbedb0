// fault_memory.h: makes operator new fail for one thread, in programs linked with --wrap.
//
// flare_test(NAME x ... LIBS flare_fault_injection WRAP _Znwm _Znam _ZnwmSt11align_val_t) replaces its three forms
// (plain, array, aligned) in all that is linked statically into x, not in the C++ library. All functions: any thread,
// for itself.
#pragma once

namespace flare::testing::faults {

// The nth allocation of this thread from now on (1 is the next one) throws std::bad_alloc.
void fail_allocation(long nth);
// That one and every later one of this thread.
void fail_allocations_from(long nth);
// No more fails; how many did since the rule was set.
long end_allocation_faults();

}  // namespace flare::testing::faults
