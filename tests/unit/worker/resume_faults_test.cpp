// A paused worker whose listener can't be added to its poller again: it stays paused and tries again.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "hook_frontend.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

using faults::Symbol;

constexpr ListenerStrategy kBoth[] = {ListenerStrategy::kPerWorker, ListenerStrategy::kShared};

// Paused at its cap of three, with a place that is free again and nobody who waits for it.
class PausedWorker {
 public:
  explicit PausedWorker(ListenerStrategy strategy) {
    SchedulerOptions options = uncapped(strategy);
    options.serving.max_connections = 3;
    server_ = serve(hooks_, 1, options);
    for (LineClient* holder : {&first_, &second_, &third_}) {
      *holder = LineClient(server_.addresses().front());
      EXPECT_EQ(holder->ask("x"), "x");
    }
    waiting_ = LineClient(server_.addresses().front());
    EXPECT_TRUE(wait_until([&] { return sum(server_, &WorkerSnapshot::accept_pauses) == 1; }));
    first_.close();
    EXPECT_EQ(waiting_.ask("x"), "x");
    EXPECT_TRUE(await_idle(server_));
  }
  HookScheduler& server() { return server_; }
  LineClient& open() { return third_; }
  void free_a_place() { second_.close(); }

 private:
  Hooks hooks_;
  HookScheduler server_;
  LineClient first_, second_, third_, waiting_;
};

// proves: C-ACCEPT-05, C-ACCEPT-06, INV-18
TEST(Resume, AListenerThatCannotBeAddedNowIsAddedLater) {
  for (const ListenerStrategy strategy : kBoth) {
    for (const int error : {ENOMEM, ENOSPC}) {
      for (const long times : {1L, 6L}) {
        const faults::Scope scope;
        PausedWorker paused(strategy);
        HookScheduler& server = paused.server();
        faults::fail(Symbol::kEpollAdd, 1, error, times);
        paused.free_a_place();
        ASSERT_TRUE(wait_until([&] { return faults::injected(Symbol::kEpollAdd) >= 1; }));
        EXPECT_EQ(paused.open().ask("y"), "y") << std::strerror(error);
        ASSERT_TRUE(wait_until([&] { return faults::injected(Symbol::kEpollAdd) == times; }));
        LineClient client(server.addresses().front());
        EXPECT_EQ(client.ask("x"), "x") << std::strerror(error) << ", " << times << " times";
        EXPECT_EQ(server.crashed_worker_count(), 0);
        EXPECT_EQ(sum(server, &WorkerSnapshot::accept_errors), static_cast<unsigned>(times));
        EXPECT_TRUE(adds_up(server.drain(2000)));
      }
    }
  }
}

// A listener that is back is all that it needs: it does not go on trying.
// proves: C-ACCEPT-06, INV-18
TEST(Resume, AWorkerThatHasResumedIsQuiet) {
  for (const ListenerStrategy strategy : kBoth) {
    PausedWorker paused(strategy);
    paused.free_a_place();
    LineClient client(paused.server().addresses().front());
    EXPECT_EQ(client.ask("x"), "x");
    client.close();
    EXPECT_TRUE(wait_until([&] { return sum(paused.server(), &WorkerSnapshot::live) == 2; }));
    EXPECT_TRUE(await_idle(paused.server()));
    const std::uint64_t ticks = sum(paused.server(), &WorkerSnapshot::ticks);
    // A retry comes after 100 ms at the latest. What is quiet stays so for any time.
    const auto looks_again = [&] { return sum(paused.server(), &WorkerSnapshot::ticks) > ticks + 1; };
    EXPECT_FALSE(wait_until(looks_again, std::chrono::milliseconds(400)));
  }
}

// A client that comes meanwhile is found by the retry: the listener needs no registration to be accepted from.
// proves: C-ACCEPT-06
TEST(Resume, WhoComesMeanwhileIsAcceptedByTheRetry) {
  for (const ListenerStrategy strategy : kBoth) {
    const faults::Scope scope;
    PausedWorker paused(strategy);
    faults::fail(Symbol::kEpollAdd, 1, ENOSPC, faults::kForEver);
    paused.free_a_place();
    ASSERT_TRUE(wait_until([&] { return faults::injected(Symbol::kEpollAdd) >= 1; }));
    LineClient unlucky(paused.server().addresses().front());
    EXPECT_NE(unlucky.await_end(), StreamEnd::kOpen) << "accepted, but it can't be registered either";
    EXPECT_EQ(paused.open().ask("y"), "y");
    EXPECT_EQ(sum(paused.server(), CloseReason::kSetupFailed), 1U);
    faults::reset();
    LineClient client(paused.server().addresses().front());
    EXPECT_EQ(client.ask("x"), "x");
    EXPECT_EQ(paused.server().crashed_worker_count(), 0);
  }
}

// Both were paused by accept itself; each of them could ask the other one for ever.
// proves: C-ACCEPT-06, INV-18
TEST(Resume, TwoThatCannotResumeDoNotSpin) {
  const faults::Scope scope;
  Hooks hooks;
  auto server = serve(hooks, 2, uncapped(ListenerStrategy::kShared));
  ASSERT_TRUE(await_idle(server));
  faults::fail(Symbol::kAccept4, 1, EMFILE, 4);  // both sweeps of both
  faults::fail(Symbol::kEpollAdd, 1, ENOSPC, faults::kForEver);
  const auto begin = std::chrono::steady_clock::now();
  LineClient unlucky(server.addresses().front());
  ASSERT_TRUE(wait_until([&] { return faults::injected(Symbol::kEpollAdd) >= 40; }));
  // A timer's try lets the peer try too: 20 tries of two timers that double from 10 ms to 100 ms. A spin takes no time.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(250));
  EXPECT_LE(sum(server, &WorkerSnapshot::ticks), 400U);
  EXPECT_EQ(server.crashed_worker_count(), 0);
  faults::reset();
  EXPECT_TRUE(wait_until([&] { return faults::calls(Symbol::kEpollAdd) >= 2; })) << "both are back";
  LineClient client(server.addresses().front());
  EXPECT_EQ(client.ask("x"), "x");
}

// What is wrong with the listener itself does not pass: that is a crash, with its error.
// proves: C-CRASH-01
TEST(Resume, AnotherErrorIsACrash) {
  const faults::Scope scope;
  PausedWorker paused(ListenerStrategy::kPerWorker);
  faults::fail(Symbol::kEpollAdd, 1, EPERM);
  paused.free_a_place();
  EXPECT_TRUE(wait_until([&] { return paused.server().crashed_worker_count() == 1; }));
  EXPECT_NE(paused.server().stats()[0].error.find("Reactor::register_fd"), std::string::npos);
}

}  // namespace
}  // namespace flare::testing
