#include "support/fault_memory.h"

#include <cstddef>
#include <new>

namespace flare::testing::faults {

namespace {

struct Rule {
  long until_first = 0;  // 0: no rule
  bool for_ever = false;
  long failed = 0;
};
thread_local constinit Rule rule;

bool this_one_fails() {
  if (rule.until_first == 0) return false;
  if (rule.until_first > 1) {
    --rule.until_first;
    return false;
  }
  if (!rule.for_ever) rule.until_first = 0;
  ++rule.failed;
  return true;
}

}  // namespace

void fail_allocation(long nth) {
  rule = {nth, false, 0};
}

void fail_allocations_from(long nth) {
  rule = {nth, true, 0};
}

long end_allocation_faults() {
  const long failed = rule.failed;
  rule = {};
  return failed;
}

}  // namespace flare::testing::faults

// Weak, as in fault_injection.cpp: only where a form of operator new is wrapped the linker resolves the real one.
// NOLINTBEGIN(bugprone-reserved-identifier): the linker chose these names
#define FLARE_REAL __attribute__((weak))
extern "C" {
using flare::testing::faults::this_one_fails;

FLARE_REAL void* __real__Znwm(std::size_t);
void* __wrap__Znwm(std::size_t size) {
  if (this_one_fails()) throw std::bad_alloc();
  return __real__Znwm(size);
}

FLARE_REAL void* __real__Znam(std::size_t);
void* __wrap__Znam(std::size_t size) {
  if (this_one_fails()) throw std::bad_alloc();
  return __real__Znam(size);
}

FLARE_REAL void* __real__ZnwmSt11align_val_t(std::size_t, std::align_val_t);
void* __wrap__ZnwmSt11align_val_t(std::size_t size, std::align_val_t alignment) {
  if (this_one_fails()) throw std::bad_alloc();
  return __real__ZnwmSt11align_val_t(size, alignment);
}
}
// NOLINTEND(bugprone-reserved-identifier)
