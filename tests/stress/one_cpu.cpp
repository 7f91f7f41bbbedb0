// With FLARE_STRESS_CPUS=1 every thread of the program shares one processor.
#include <gtest/gtest.h>
#include <sched.h>

#include "support/number_from.h"

namespace flare::testing {
namespace {

class OneCpu : public ::testing::Environment {
 public:
  void SetUp() override {
    if (number_from("FLARE_STRESS_CPUS", 0) != 1) return;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ASSERT_EQ(0, ::sched_getaffinity(0, sizeof allowed, &allowed));
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ASSERT_EQ(0, ::sched_setaffinity(0, sizeof one, &one));
      return;
    }
  }
};

[[maybe_unused]] const auto* const registered = ::testing::AddGlobalTestEnvironment(new OneCpu);

}  // namespace
}  // namespace flare::testing
