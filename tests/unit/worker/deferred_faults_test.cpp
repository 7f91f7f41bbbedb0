// Deferred accept: what a short connection costs in calls of the system.
#include <gtest/gtest.h>

#include "hook_frontend.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

// Calls of epoll_ctl for ten connections of one request each.
long registrations(int defer_accept_s) {
  const faults::Scope scope;
  Hooks hooks;
  SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker);
  options.listener.defer_accept_s = defer_accept_s;
  auto server = serve(hooks, 1, options);
  EXPECT_TRUE(await_idle(server));
  const long before = faults::calls(faults::Symbol::kEpollCtl);
  for (int i = 0; i < 10; ++i) {
    LineClient client(server.addresses().front());
    EXPECT_TRUE(client.send("quit\n"));
    EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  }
  EXPECT_TRUE(await_no_connection(server));
  return faults::calls(faults::Symbol::kEpollCtl) - before;
}

// proves: C-ACCEPT-09
TEST(DeferredCalls, AConnectionThatItsFirstRequestEndsIsNeverRegistered) {
  EXPECT_EQ(registrations(60), 0);
  EXPECT_EQ(registrations(0), 10) << "without it each is registered, and never taken out by a call";
}

}  // namespace
}  // namespace flare::testing
