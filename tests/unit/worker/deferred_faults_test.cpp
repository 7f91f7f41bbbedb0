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

// A worker that is held up finds 64 clients, who have all asked, or say nothing yet.
struct Crowd {
  explicit Crowd(const std::string& line) {
    auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
    LineClient holder(server.addresses().front());
    EXPECT_TRUE(holder.send("hold\n"));
    EXPECT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
    std::vector<LineClient> clients;
    for (int i = 0; i < 64; ++i) {
      clients.emplace_back(server.addresses().front());
      EXPECT_TRUE(clients.back().send(line));
    }
    const long registered = faults::calls(faults::Symbol::kEpollCtl);
    const long read = faults::calls(faults::Symbol::kRecv);
    hooks.gate.open();
    EXPECT_EQ(holder.line(), "held");
    EXPECT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::accepted) == 65; }));
    EXPECT_TRUE(await_idle(server));
    registrations = faults::calls(faults::Symbol::kEpollCtl) - registered;
    reads = faults::calls(faults::Symbol::kRecv) - read;
    for (LineClient& client : clients) {
      if (line.empty()) {
        EXPECT_EQ(client.ask("x"), "x");
      } else {
        EXPECT_EQ(client.await_end(), StreamEnd::kEof);
      }
    }
  }

  const faults::Scope scope;
  Hooks hooks;
  long registrations = 0;
  long reads = 0;
};

// proves: C-ACCEPT-09
TEST(DeferredCalls, WithoutItTheWorkerLearnsThatRequestsComeWithTheirConnections) {
  EXPECT_LE(Crowd("quit\n").registrations, 16) << "from the first one on that was tried";
}

// proves: C-ACCEPT-09
TEST(DeferredCalls, WhoeverSaysNothingYetCostsAReadNowAndThenOnly) {
  const Crowd silent("");
  EXPECT_EQ(silent.registrations, 64);
  EXPECT_LE(silent.reads, 64 / 16 + 1);
}

}  // namespace
}  // namespace flare::testing
