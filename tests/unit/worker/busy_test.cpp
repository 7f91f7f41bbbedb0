// Workers that never come to rest: by deadlines, by turns, by a stall; what else they must do is not put off for it.
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "flare/kernel/system_kernel.h"
#include "hook_frontend.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

using std::chrono::milliseconds;

// field-bugs A17
// proves: C-TIMER-04, C-SERVE-06
TEST(Deadlines, OneThatIsAlwaysDueLetsOthersIn) {
  Hooks hooks;
  std::atomic<int> opened{0};
  std::atomic<bool> busy{true};
  std::atomic<std::uint64_t> fired{0};
  const auto passed = [](const Wire& w) { return Step::keep(0, w.now - milliseconds(5)); };
  hooks.on_open = [&](const Wire& w) { return opened++ == 0 ? passed(w) : Step::keep(INTEREST_READ); };
  hooks.on_deadline = [&](const Wire& w) {
    ++fired;
    return busy ? passed(w) : Step::close(CloseReason::kDeadline);
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient always(server.addresses().front());
  EXPECT_TRUE(wait_until([&] { return fired > 0; }));
  LineClient other(server.addresses().front());
  int answered = 0;
  while (answered < 50 && other.ask("x") == "x") ++answered;
  busy = false;
  EXPECT_EQ(answered, 50);
  EXPECT_EQ(always.await_end(), StreamEnd::kEof);
  ASSERT_TRUE(await_idle(server));
  EXPECT_LE(fired, sum(server, &WorkerSnapshot::ticks)) << "at most once in a tick";
}

// field-bugs E10
// proves: C-STOP-03, C-STOP-05, INV-19
TEST(Deadlines, AStopAskedForByOneLeavesTheOthersUnfired) {
  constexpr int kOthers = 200;
  Hooks hooks;
  HookScheduler server;
  std::atomic<int> opened{0};
  std::atomic<int> fired{0};
  hooks.on_open = [&](const Wire& w) {
    const bool last = opened++ == kOthers;
    return Step::keep(INTEREST_READ, w.now + (last ? milliseconds(1) : milliseconds(3'600'000)));
  };
  hooks.on_deadline = [&](const Wire&) {
    ++fired;
    server.request_stop();
    server.request_stop();  // cut
    return Step::keep(INTEREST_READ);
  };
  server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  std::vector<LineClient> clients;
  for (int i = 0; i <= kOthers; ++i) clients.emplace_back(server.addresses().front());
  server.wait();
  EXPECT_TRUE(wait_until([&] { return !server.is_running(); })) << "the other deadlines are an hour away";
  for (LineClient& client : clients) EXPECT_NE(client.await_end(), StreamEnd::kOpen);
  const auto reports = server.drain(1000);
  EXPECT_TRUE(adds_up(reports));
  EXPECT_EQ(reports.front().cut, kOthers + 1);
  EXPECT_EQ(fired, 1);
}

// Nothing is told to a connection that asked for nothing, however much its socket holds; later it asks again.
// proves: C-SERVE-06
TEST(Busy, AConnectionThatWantsNothingIsLeftAlone) {
  Hooks hooks;
  std::atomic<int> ready{0};
  hooks.on_ready = [&](const Wire& w, Readiness) {
    return ++ready == 1 ? Step::keep(0, w.now + milliseconds(100)) : Step::close(CloseReason::kAnswered);
  };
  std::atomic<int> ready_at_deadline{0};
  hooks.on_deadline = [&](const Wire&) {
    ready_at_deadline = ready.load();
    return Step::keep(INTEREST_READ);
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient client(server.addresses().front());
  EXPECT_TRUE(client.send("x\n"));
  EXPECT_NE(client.await_end(), StreamEnd::kOpen);
  EXPECT_TRUE(wait_until([&] { return sum(server, CloseReason::kAnswered) == 1; }));
  EXPECT_EQ(ready_at_deadline, 1);
  EXPECT_EQ(ready, 2);
}

// Each worker has a connection that always wants its turn, so none ever sleeps; what is pushed to it is adopted.
// field-bugs B10
// proves: C-SERVE-01, C-SERVE-06, INV-06
TEST(Busy, AWorkerThatAlwaysHasWorkServesWhatItIsHanded) {
  Hooks hooks;
  std::array<std::atomic<bool>, 2> has_busy{};
  hooks.on_open = [&](const Wire& w) {
    const bool first = !has_busy[static_cast<std::size_t>(w.worker)].exchange(true);
    return first ? Step::keep_and_return(0) : Step::keep(INTEREST_READ);
  };
  hooks.on_turn = [](const Wire&) { return Step::keep_and_return(0); };
  auto server = serve(hooks, 2, uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(true, 64, 1)));
  std::vector<LineClient> clients;
  while (!has_busy[0] || !has_busy[1]) {
    clients.emplace_back(server.addresses().front());
    const std::uint64_t count = clients.size();
    ASSERT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::live) == count; }));
  }
  int moved = 0;
  for (int i = 0; i < 64; ++i) {
    clients.emplace_back(server.addresses().front());
    const Place place = who(clients.back());
    ASSERT_GE(place.served, 0) << "client " << i << " was never answered";
    moved += place.served != place.accepted ? 1 : 0;
  }
  EXPECT_GT(moved, 0) << "a donor took all of them back";
}

// A listener's queue that is full drops newcomers; each of them tries again by itself, and finds the worker back.
// field-bugs C17
// proves: C-ACCEPT-01
TEST(Backlog, WhoFoundItFullIsServedAfterTheStall) {
  Hooks hooks;
  SchedulerOptions options = uncapped(ListenerStrategy::kShared);
  options.listener.backlog = 1;
  auto server = serve(hooks, 1, options);
  const SocketAddress address = server.addresses().front();
  LineClient held(address);
  ASSERT_TRUE(held.send("hold\n"));
  ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
  std::vector<UniqueFd> sockets;
  std::size_t connected = 0;
  for (int i = 0; i < 8; ++i) {
    sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(sockets.back().get(), address.data(), address.length());
    pollfd wanted{sockets.back().get(), POLLOUT, 0};
    connected += ::poll(&wanted, 1, 0) == 1 ? 1U : 0U;
  }
  EXPECT_LT(connected, sockets.size()) << "nobody found the queue full";
  hooks.gate.open();
  EXPECT_EQ(held.line(), "held");
  for (const UniqueFd& socket : sockets) {
    pollfd wanted{socket.get(), POLLOUT, 0};
    ASSERT_EQ(::poll(&wanted, 1, 20'000), 1);
    ASSERT_EQ(::send(socket.get(), "x\n", 2, MSG_NOSIGNAL), 2);
    wanted.events = POLLIN;
    ASSERT_EQ(::poll(&wanted, 1, 20'000), 1);
    char answer[8];
    EXPECT_EQ(::recv(socket.get(), answer, sizeof answer, 0), 2);
  }
}

}  // namespace
}  // namespace flare::testing
