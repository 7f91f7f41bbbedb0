// What accept4 can answer besides a connection: each of its errors, once, for a while, and for real.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "hook_frontend.h"
#include "support/fault_injection.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

using faults::Symbol;

constexpr ListenerStrategy kBoth[] = {ListenerStrategy::kPerWorker, ListenerStrategy::kShared};

// field-bugs C03
// proves: C-ACCEPT-06, INV-18
TEST(AcceptErrors, OneConnectionsMisfortuneCostsOneMoreTry) {
  for (const ListenerStrategy strategy : kBoth) {
    for (const int error : {ECONNABORTED, EPROTO, EPERM, EINTR, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
                            EOPNOTSUPP, ENETUNREACH, ETIMEDOUT, ENOSR, ESOCKTNOSUPPORT, EPROTONOSUPPORT, EAGAIN}) {
      for (const long times : {1L, 3L}) {
        const faults::Scope scope;
        Hooks hooks;
        auto server = serve(hooks, 2, uncapped(strategy));
        ASSERT_TRUE(await_idle(server));
        faults::fail(Symbol::kAccept4, 1, error, times);
        LineClient client(server.addresses().front());
        EXPECT_EQ(client.ask("x"), "x") << std::strerror(error) << ", " << times << " times";
        EXPECT_EQ(sum(server, &WorkerSnapshot::accept_pauses), 0U);
        EXPECT_EQ(sum(server, &WorkerSnapshot::accept_errors), error == EAGAIN ? 0U : static_cast<unsigned>(times));
        EXPECT_EQ(server.crashed_worker_count(), 0);
      }
    }
  }
}

// proves: C-ACCEPT-06, INV-18
TEST(AcceptErrors, AShortageOfResourcesEndsByItself) {
  for (const ListenerStrategy strategy : kBoth) {
    for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
      for (const long times : {1L, 2L, 9L}) {
        const faults::Scope scope;
        Hooks hooks;
        auto server = serve(hooks, 4, uncapped(strategy));
        LineClient open(server.addresses().front());
        ASSERT_EQ(open.ask("x"), "x");
        ASSERT_TRUE(await_idle(server));
        faults::fail(Symbol::kAccept4, 1, error, times);
        LineClient client(server.addresses().front());
        EXPECT_EQ(open.ask("y"), "y");
        EXPECT_EQ(client.ask("x"), "x") << std::strerror(error) << ", " << times << " times";
        EXPECT_GE(sum(server, &WorkerSnapshot::accept_pauses), 1U);
        EXPECT_EQ(server.crashed_worker_count(), 0);
      }
    }
  }
}

// The one that fails pauses with its client waiting on what all share: a peer is asked, and not after a retry. The peer
// is inside a handler, so that both failures are the first one's.
// proves: C-ACCEPT-03, C-ACCEPT-06
TEST(AcceptErrors, AWorkerWithoutResourcesAsksAPeer) {
  const faults::Scope scope;
  Hooks hooks;
  auto server = serve(hooks, 2, uncapped(ListenerStrategy::kShared));
  LineClient held(server.addresses().front());
  ASSERT_TRUE(held.send("hold\n"));
  ASSERT_TRUE(wait_until([&] { return hooks.gate.waiting() == 1; }));
  faults::fail(Symbol::kAccept4, 1, ENFILE, 2);  // both sweeps
  LineClient client(server.addresses().front());
  ASSERT_TRUE(wait_until([&] { return faults::injected(Symbol::kAccept4) == 2; }));
  EXPECT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::passed_on) == 1; }));
  hooks.gate.open();
  EXPECT_EQ(client.ask("x"), "x");
  EXPECT_EQ(held.line(), "held");
  EXPECT_EQ(sum(server, &WorkerSnapshot::passed_on), 1U);
}

// Tries and ticks of all workers while accept fails for ever.
// proves: C-ACCEPT-06, INV-18
TEST(AcceptErrors, ALongShortageIsNoSpin) {
  for (const ListenerStrategy strategy : kBoth) {
    const faults::Scope scope;
    Hooks hooks;
    auto server = serve(hooks, 4, uncapped(strategy));
    std::vector<LineClient> open;
    for (int i = 0; i < 8; ++i) {
      open.emplace_back(server.addresses().front());
      ASSERT_EQ(open.back().ask("x"), "x");
    }
    ASSERT_TRUE(await_idle(server));
    faults::fail(Symbol::kAccept4, 1, EMFILE, faults::kForEver);
    std::vector<LineClient> waiting;
    for (int i = 0; i < 32; ++i) waiting.emplace_back(server.addresses().front());
    const std::uint64_t before = sum(server, &WorkerSnapshot::ticks);
    const long tries = faults::injected(Symbol::kAccept4);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(wait_until([&] { return faults::injected(Symbol::kAccept4) >= tries + 40; }));
    // A worker tries at 0, 10, 30, 70, 150, 250 ... ms: ten tries of each of the four take half a second at least, a
    // spin takes no time. A slow machine takes longer.
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(250));
    EXPECT_LE(sum(server, &WorkerSnapshot::ticks) - before, 400U);
    for (LineClient& client : open) EXPECT_EQ(client.ask("y"), "y");
    faults::reset();
    for (LineClient& client : waiting) EXPECT_EQ(client.ask("x"), "x");
  }
}

// proves: C-CRASH-01, C-CRASH-03
TEST(AcceptErrors, AListenerThatIsBrokenCrashesItsWorkerWithTheError) {
  const faults::Scope scope;
  Hooks hooks;
  auto server = serve(hooks, 2, uncapped(ListenerStrategy::kShared));
  ASSERT_TRUE(await_idle(server));
  faults::fail(Symbol::kAccept4, 1, EINVAL);
  LineClient client(server.addresses().front());
  EXPECT_EQ(client.ask("x"), "x") << "the peer was not told";
  ASSERT_TRUE(wait_until([&] { return server.crashed_worker_count() == 1; }));
  for (const WorkerSnapshot& one : server.stats()) {
    if (!one.crashed) continue;
    EXPECT_NE(one.error.find("accept"), std::string::npos) << one.error;
    EXPECT_NE(one.error.find(server.addresses().front().to_string()), std::string::npos) << one.error;
    EXPECT_NE(one.error.find(std::strerror(EINVAL)), std::string::npos) << one.error;
    EXPECT_EQ(one.live, 0U);
  }
  EXPECT_TRUE(server.is_running());
  EXPECT_TRUE(adds_up(server.drain(2000)));
}

// proves: C-CRASH-01, C-CRASH-02, INV-22
TEST(AcceptErrors, ALoopWhosePollFailsGivesItsClientsAway) {
  const faults::Scope scope;
  Hooks hooks;
  auto server = serve(hooks, 3, uncapped(ListenerStrategy::kShared, HandoffPolicy(true, 64, 1)));
  std::vector<LineClient> clients;
  for (int i = 0; i < 9; ++i) {
    clients.emplace_back(server.addresses().front());
    ASSERT_EQ(clients.back().ask("x"), "x");
  }
  ASSERT_TRUE(await_idle(server));
  faults::fail(Symbol::kEpollWait, 1, EBADF);
  ASSERT_TRUE(clients[0].send("y\n"));  // its worker wakes, answers, and polls for the last time
  ASSERT_TRUE(wait_until([&] { return server.crashed_worker_count() == 1; }));
  for (int i = 0; i < 9; ++i) {
    LineClient later(server.addresses().front());
    EXPECT_EQ(later.ask("x"), "x");
  }
  int cut = 0;
  for (std::size_t i = 1; i < clients.size(); ++i) cut += clients[i].ask("x") == "x" ? 0 : 1;
  EXPECT_LE(cut, 3);
  clients.clear();
  EXPECT_TRUE(await_no_connection(server));
  EXPECT_TRUE(adds_up(server.drain(2000)));
}

// The limit of this process, put back at the end.
class DescriptorLimit {
 public:
  DescriptorLimit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~DescriptorLimit() { lift(); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  // No number at or above this one can be opened any more.
  void set(int limit) {
    rlimit wanted = before_;
    wanted.rlim_cur = static_cast<rlim_t>(limit);
    ::setrlimit(RLIMIT_NOFILE, &wanted);
  }
  void lift() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Clients and server live in one process, so the clients' sockets are opened first and connected under the limit.
// proves: C-ACCEPT-06, INV-04, INV-18
TEST(Descriptors, WhenTheyRunOutEveryClientIsServedOnceSomeAreFree) {
  for (const ListenerStrategy strategy : kBoth) {
    for (const bool handoff : {false, true}) {
      Hooks hooks;
      auto server = serve(hooks, 4, uncapped(strategy, HandoffPolicy(handoff, 64, 1)));
      LineClient first(server.addresses().front());
      ASSERT_EQ(first.ask("x"), "x");
      ASSERT_TRUE(await_idle(server));
      const int before = open_descriptors();
      std::vector<UniqueFd> sockets;
      for (int i = 0; i < 100; ++i) sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      DescriptorLimit limit;
      limit.set(sockets.back().get() + 1 + 20);
      const std::uint64_t ticks = sum(server, &WorkerSnapshot::ticks);
      const SocketAddress address = server.addresses().front();
      for (const UniqueFd& socket : sockets) {
        ASSERT_EQ(::connect(socket.get(), address.data(), address.length()), 0);
        ASSERT_EQ(::send(socket.get(), "x\n", 2, MSG_NOSIGNAL), 2);
      }
      ASSERT_TRUE(wait_until([&] { return sum(server, &WorkerSnapshot::live) >= 21; }));
      EXPECT_EQ(first.ask("y"), "y");
      // Each answered client leaves, and the place goes to one that waits.
      std::size_t answered = 0;
      ASSERT_TRUE(wait_until([&] {
        for (UniqueFd& socket : sockets) {
          char answer[8];
          if (!socket.valid() || ::recv(socket.get(), answer, sizeof answer, MSG_DONTWAIT) != 2) continue;
          ++answered;
          socket.reset();
        }
        return answered == sockets.size();
      })) << answered
          << " of " << sockets.size() << " were served";
      EXPECT_LE(sum(server, &WorkerSnapshot::ticks) - ticks, 3000U);
      EXPECT_GE(sum(server, &WorkerSnapshot::accept_pauses), 1U);
      EXPECT_TRUE(wait_until([&] { return open_descriptors() == before; }));
      EXPECT_EQ(first.ask("z"), "z");
    }
  }
}

}  // namespace
}  // namespace flare::testing
