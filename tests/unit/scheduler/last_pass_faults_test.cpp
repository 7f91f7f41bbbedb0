// The last pass of accepts, of a drain and of a crash: it has an end also where the listener has none.
#include <cerrno>

#include "flare/base/limits.h"
#include "harness.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

using faults::Symbol;

// Every accept from now on finds a client that is gone already, and never an empty listener.
void end_no_pass() {
  faults::fail(Symbol::kAccept4, 1, ECONNABORTED, faults::kForEver);
}

// proves: C-DRAIN-03, C-DRAIN-04, INV-18
TEST(LastPass, OfADrainEndsAfterItsBoundOfAccepts) {
  const faults::Scope scope;
  auto scheduler = start_any(echo(), 1, with(ListenerStrategy::kPerWorker));
  ASSERT_TRUE(all_workers_run(scheduler));
  end_no_pass();
  expect_sound(scheduler.drain(5000));
  EXPECT_EQ(faults::calls(Symbol::kAccept4), limits::kAcceptDryMax);
}

// proves: C-CRASH-02, INV-18
TEST(LastPass, OfACrashEndsAfterItsBoundOfAccepts) {
  const faults::Scope scope;
  auto scheduler = start_any(echo(), 1, with(ListenerStrategy::kPerWorker));
  ASSERT_TRUE(all_workers_run(scheduler));
  end_no_pass();
  faults::fail(Symbol::kEpollWait, 1, EBADF, faults::kForEver);
  ASSERT_TRUE(wait_until([&] { return !scheduler.is_running(); }));
  EXPECT_EQ(faults::calls(Symbol::kAccept4), limits::kAcceptDryMax);
  expect_sound(scheduler.drain(1000));
}

}  // namespace
}  // namespace flare::testing
