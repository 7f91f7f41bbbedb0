// A broken invariant of the product, caught at link time (--wrap): the schedule fails and can be replayed.
#include <cstdio>
#include <cstdlib>

#include "engine/schedule.h"

extern "C" [[noreturn]] void __real__ZN5flare5model16assertion_failedEPKciS2_S2_(const char* file, int line,
                                                                                 const char* condition,
                                                                                 const char* reason);

extern "C" [[noreturn]] void __wrap__ZN5flare5model16assertion_failedEPKciS2_S2_(const char* file, int line,
                                                                                 const char* condition,
                                                                                 const char* reason) {
  if (flare::sim::Schedule* schedule = flare::sim::Schedule::current()) {
    schedule->fail("assertion", std::string(reason) + " (" + condition + ") at " + file + ":" + std::to_string(line));
  }
  __real__ZN5flare5model16assertion_failedEPKciS2_S2_(file, line, condition, reason);
}
