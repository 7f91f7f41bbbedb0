// What the loop promises to one connection: its calls, its deadlines, its turns; and that its faults stay its own.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

#include "flare/kernel/system_kernel.h"
#include "hook_frontend.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

using std::chrono::milliseconds;

SchedulerOptions one_worker() {
  return uncapped(ListenerStrategy::kPerWorker);
}

enum class Call { kOpen, kReady, kTurn, kDeadline, kDrain };

// proves: C-SERVE-05
TEST(Connection, WhatACallThrowsClosesThisConnectionOnly) {
  for (const Call call : {Call::kOpen, Call::kReady, Call::kTurn, Call::kDeadline, Call::kDrain}) {
    Hooks hooks;
    std::atomic<int> victim{-1};  // the fd of the second connection
    std::atomic<int> opened{0};
    const auto fault = [&](const Wire& w, Step otherwise) {
      if (w.fd == victim) throw std::runtime_error("on purpose");
      return otherwise;
    };
    hooks.on_open = [&, call](const Wire& w) {
      if (opened++ == 1) victim = w.fd;
      if (call == Call::kOpen) return fault(w, Step::keep(INTEREST_READ));
      if (call == Call::kTurn) return Step::keep_and_return(INTEREST_READ);
      return Step::keep(INTEREST_READ, call == Call::kDeadline && w.fd == victim ? w.now : kNever);
    };
    hooks.on_turn = [&](const Wire& w) { return fault(w, Step::keep(INTEREST_READ)); };
    hooks.on_deadline = [&](const Wire& w) { return fault(w, Step::keep(INTEREST_READ)); };
    if (call == Call::kDrain) {
      hooks.on_drain = [&](const Wire& w) { return fault(w, Step::linger(CloseReason::kIdleDrained)); };
    }
    auto server = serve(hooks, 1, one_worker());
    LineClient bystander(server.addresses().front());
    ASSERT_EQ(bystander.ask("x"), "x");
    LineClient client(server.addresses().front());
    if (call == Call::kReady) client.send("throw\n");
    if (call != Call::kDrain) {
      EXPECT_NE(client.await_end(), StreamEnd::kOpen);
      EXPECT_EQ(bystander.ask("y"), "y");
      EXPECT_EQ(sum(server, CloseReason::kHandlerThrew), 1U);
    } else {
      ASSERT_TRUE(wait_until([&] { return opened == 2; }));
    }
    const auto reports = server.drain(2000);
    EXPECT_TRUE(adds_up(reports));
    EXPECT_EQ(reports[0].by_reason[static_cast<std::size_t>(CloseReason::kHandlerThrew)], 1);
    EXPECT_EQ(reports[0].finished, 2);
    EXPECT_EQ(reports[0].crashed, 0);
    EXPECT_EQ(bystander.await_end(), StreamEnd::kEof);
  }
}

// proves: C-SERVE-05, INV-19
TEST(Connection, ADeadlineComesAndNotEarly) {
  Hooks hooks;
  std::mutex mutex;
  std::vector<std::pair<int, MonoTime>> due;  // by fd
  std::atomic<int> early{0};
  std::atomic<int> fired{0};
  hooks.on_open = [&](const Wire& w) {
    const std::lock_guard<std::mutex> lock(mutex);
    const MonoTime deadline = w.now + std::chrono::microseconds(1700 * static_cast<int>(due.size() % 40));
    due.emplace_back(w.fd, deadline);
    return Step::keep(0, deadline);
  };
  hooks.on_deadline = [&](const Wire& w) {
    const std::lock_guard<std::mutex> lock(mutex);
    for (auto& [fd, deadline] : due) {
      if (fd != w.fd) continue;
      early += SystemKernel::now() < deadline || w.now < deadline ? 1 : 0;
      fd = -1;
    }
    ++fired;
    return Step::close(CloseReason::kDeadline);
  };
  auto server = serve(hooks, 1, one_worker());
  std::vector<LineClient> clients;
  for (int i = 0; i < 120; ++i) clients.emplace_back(server.addresses().front());
  for (LineClient& client : clients) EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  EXPECT_EQ(early, 0);
  EXPECT_EQ(fired, 120);
  EXPECT_EQ(sum(server, CloseReason::kDeadline), 120U);
}

// proves: C-SERVE-05, INV-19
TEST(Connection, ADeadlineThatMovesLaterOrNearerCountsAsItIsNow) {
  Hooks hooks;
  std::atomic<std::int64_t> latest{0};
  std::atomic<int> early{0};
  std::atomic<int> step_ms{0};
  const auto until = [&](const Wire& w, int ms) {
    const MonoTime deadline = w.now + milliseconds(ms);
    latest = deadline.time_since_epoch().count();
    return Step::keep(INTEREST_READ, deadline);
  };
  hooks.on_open = [&](const Wire& w) { return until(w, step_ms < 0 ? 3'600'000 : 20); };
  hooks.on_ready = [&](const Wire& w, Readiness) {
    static_cast<void>(SystemKernel::recv(w.fd, w.scratch, w.scratch_size));
    return until(w, step_ms < 0 ? 5 : 60);
  };
  hooks.on_deadline = [&](const Wire&) {
    early += SystemKernel::now().time_since_epoch().count() < latest ? 1 : 0;
    return Step::close(CloseReason::kDeadline);
  };
  auto server = serve(hooks, 1, one_worker());
  for (const int direction : {1, -1, 1, -1}) {
    step_ms = direction;
    LineClient client(server.addresses().front());
    ASSERT_TRUE(client.send("x"));
    EXPECT_EQ(client.await_end(), StreamEnd::kEof);
    EXPECT_EQ(early, 0);
  }
}

TEST(Connection, ItsTimerIsCountedWhileItIsThere) {
  Hooks hooks;
  hooks.on_open = [](const Wire& w) { return Step::keep(INTEREST_READ, w.now + std::chrono::hours(1)); };
  auto server = serve(hooks, 1, one_worker());
  const auto counts = [&] {
    const WorkerSnapshot now = server.stats().front();
    return std::pair(now.live, now.timers);
  };
  {
    std::vector<LineClient> clients;
    for (std::uint64_t i = 1; i <= 3; ++i) {
      clients.emplace_back(server.addresses().front());
      ASSERT_TRUE(wait_until([&] { return counts().first == i; }));
      // The newest one's timer may come behind the moment at which both were counted.
      EXPECT_GE(counts().second, i - 1);
      EXPECT_LE(counts().second, i);
    }
  }
  ASSERT_TRUE(await_no_connection(server));
  EXPECT_EQ(counts(), std::pair(std::uint64_t{0}, std::uint64_t{0}));
}

// The event and the deadline of one connection fall into one tick: the deadline closes it, the event finds nobody.
// proves: C-ACCEPT-02, INV-10, INV-19
TEST(Connection, AnEventOfAConnectionThatItsDeadlineClosedIsDropped) {
  Hooks hooks;
  std::atomic<int> opened{0};
  std::atomic<std::int64_t> due{0};
  hooks.on_open = [&](const Wire& w) {
    if (opened++ == 0) return Step::keep(INTEREST_READ);
    due = (w.now + milliseconds(30)).time_since_epoch().count();
    return Step::keep(INTEREST_READ, w.now + milliseconds(30));
  };
  auto server = serve(hooks, 1, one_worker());
  LineClient holder(server.addresses().front());
  ASSERT_EQ(holder.ask("x"), "x");
  for (int attempt = 0; attempt < 20; ++attempt) {
    hooks.gate.close();
    due = 0;
    LineClient client(server.addresses().front());
    ASSERT_TRUE(wait_until([&] { return due != 0; }));
    ASSERT_TRUE(holder.send("hold\n"));
    ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
    const bool in_time = SystemKernel::now().time_since_epoch().count() < due;
    ASSERT_TRUE(client.send("late\n"));
    ASSERT_TRUE(wait_until([&] { return SystemKernel::now().time_since_epoch().count() > due + 2'000'000; }));
    hooks.gate.open();
    EXPECT_EQ(holder.line(), "held");
    EXPECT_NE(client.await_end(), StreamEnd::kOpen);
    if (!in_time) continue;  // a slow machine: the deadline came before the handler
    EXPECT_EQ(client.rest(), "");
    EXPECT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::stale_events) == 1; }));
    return;
  }
  FAIL() << "20 times the deadline came before the handler was entered";
}

// Each connection ends by exactly one call. What a deadline of a closed one would hit is the next one in its slot.
// proves: INV-19
TEST(Connection, NoDeadlineOfAClosedConnectionFires) {
  Hooks hooks;
  std::atomic<int> deadlines{0};
  std::atomic<int> readies{0};
  hooks.on_open = [&](const Wire& w) { return Step::keep(INTEREST_READ, w.now + milliseconds(40)); };
  hooks.on_ready = [&](const Wire&, Readiness) {
    ++readies;
    return Step::close(CloseReason::kPeerGone);
  };
  hooks.on_deadline = [&](const Wire&) {
    ++deadlines;
    return Step::close(CloseReason::kDeadline);
  };
  auto server = serve(hooks, 1, one_worker());
  for (int i = 0; i < 200; ++i) {
    LineClient client(server.addresses().front());
    if (i % 2 == 0) {
      client.reset();
    } else {
      client.send("x");
      EXPECT_NE(client.await_end(), StreamEnd::kOpen);
    }
  }
  LineClient last(server.addresses().front());  // its deadline is the latest of all
  EXPECT_EQ(last.await_end(), StreamEnd::kEof);
  EXPECT_EQ(readies + deadlines, 201);
  EXPECT_EQ(sum(server, CloseReason::kDeadline), static_cast<std::uint64_t>(deadlines.load()));
}

// proves: C-SERVE-06
TEST(Connection, ConnectionsThatAlwaysHaveWorkTakeTurnsAndLetOthersIn) {
  Hooks hooks;
  std::vector<int> turns;  // the worker's until the server has stopped
  std::atomic<int> opened{0};
  hooks.on_open = [&](const Wire&) {
    // Interest 0: until its turns are over a connection hears of nothing else.
    return opened++ < 2 ? Step::keep_and_return(0) : Step::keep(INTEREST_READ);
  };
  hooks.on_turn = [&](const Wire& w) {
    if (turns.size() < 100'000) turns.push_back(w.fd);
    return Step::keep_and_return(0);
  };
  auto server = serve(hooks, 1, one_worker());
  std::vector<LineClient> busy(2);
  for (LineClient& client : busy) client = LineClient(server.addresses().front());
  ASSERT_TRUE(wait_until([&] { return opened == 2; }));
  for (int i = 0; i < 50; ++i) {
    LineClient client(server.addresses().front());
    ASSERT_EQ(client.ask("x"), "x");
  }
  server.shutdown();
  std::size_t both = 0;
  while (both < turns.size() && turns[both] == turns[0]) ++both;
  ASSERT_LT(both + 10, turns.size());
  for (std::size_t i = both + 1; i < turns.size(); ++i) ASSERT_NE(turns[i], turns[i - 1]) << "turn " << i;
}

// A worker is left behind inside Protocol::open: the connection that it holds is the one that its report says is left.
// proves: C-REPORT-01, C-DRAIN-06, INV-22
TEST(Connection, TheOneThatIsBeingOpenedCountsAsLeft) {
  static Hooks* const hooks = new Hooks;  // never freed: nothing orders the end of a detached thread
  hooks->gate.close();
  hooks->before_open = [](int) { hooks->gate.enter(); };
  const int before = open_descriptors();
  std::vector<ShutdownReport> reports;
  {
    auto server = serve(*hooks, 1, one_worker());
    LineClient client(server.addresses().front());
    ASSERT_TRUE(wait_until([&] { return hooks->gate.waiting() == 1; }));
    reports = server.drain(20);
  }
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].stuck, 1);
  EXPECT_EQ(reports[0].accepted, 1);
  EXPECT_EQ(reports[0].left, 1);
  EXPECT_TRUE(reports[0].identity());
  hooks->gate.open();
  EXPECT_TRUE(wait_until([&] { return open_descriptors() == before; }));
}

}  // namespace
}  // namespace flare::testing
