// Pushes that come at a chosen moment: the last slot goes between a donor's choice and its push, and a worker is filled
// while it sleeps.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <mutex>
#include <thread>

#include "flare/worker/loop_token.h"
#include "flare/worker/worker_exit.h"
#include "hook_frontend.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

std::uint64_t accepted(const WorkerShared& shared, int worker) {
  return shared.stats[static_cast<std::size_t>(worker)]->accepted.get();
}

// Connects a client, and takes the only slot of worker 1 when the connection was accepted and, as a rule, worker 0 has
// chosen that slot and waits for its lock. The socket in the slot has lost its peer: worker 1 closes it.
LineClient connect_while_the_slot_goes(WorkerShared& shared, const SocketAddress& address) {
  LineClient client;
  SocketPair pair;
  const std::uint64_t before = accepted(shared, 0) + accepted(shared, 1);
  const bool taken = shared.pool.queue(1).push_if(HandoffToken{pair.a.get(), 0, 0}.pack(), [&](std::uint32_t) {
    client = LineClient(address);
    EXPECT_TRUE(client.send("who\n"));
    EXPECT_TRUE(wait_until([&] { return accepted(shared, 0) + accepted(shared, 1) > before; }));
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
    return true;
  });
  if (taken) static_cast<void>(pair.a.release());
  shared.wakers[1]->wake();
  return client;
}

// proves: C-SERVE-02, INV-03
TEST(Refused, AConnectionStaysWithItsAcceptorWhoServesIt) {
  Hooks hooks;
  Insight insight;
  auto server = Scheduler<OpenFrontend>::start(own_loopback(), OpenFrontend(hooks, insight), 2, false, {},
                                               uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(true, 1, 1)));
  const SocketAddress address = server.addresses().front();
  const auto idle = [&](const std::vector<std::uint64_t>& live) {
    return wait_until([&] {
      const auto all = server.stats();
      return all[0].live == live[0] && all[1].live == live[1] && all[0].ticks > 0 && all[1].ticks > 0 &&
             all[0].sleeping && all[1].sleeping && all[1].queued == 0;
    });
  };
  ASSERT_TRUE(idle({0, 0}));
  LineClient first;  // worker 0's: what it accepts next goes to worker 1
  while (who(first).served != 0) first = LineClient(address);
  std::uint64_t refused = 0;
  for (int attempt = 0; attempt < 200 && refused == 0; ++attempt) {
    ASSERT_TRUE(idle({1, 0}));
    LineClient client = connect_while_the_slot_goes(*insight.get(), address);
    const std::optional<std::string> answer = client.line();
    ASSERT_TRUE(answer) << "attempt " << attempt << ": the connection was lost";
    refused = server.stats()[0].refused;
    if (refused > 0) {
      EXPECT_EQ(answer, "0 0");
    }
  }
  EXPECT_GT(refused, 0U);
  insight.set(nullptr);
}

// Worker 0 gives an orphan away; the others only hold their queues.
class OrphanFrontend {
 public:
  OrphanFrontend(Gate& gate, std::function<void(WorkerContext&)> gives) : gate_(&gate), gives_(std::move(gives)) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    if (context.id() == 0) gives_(context);
    gate_->enter();
  }

 private:
  Gate* gate_;
  std::function<void(WorkerContext&)> gives_;
};

// Gives an orphan away while the only slot of worker 1 goes and, as a rule, was chosen for it.
void give_away_while_the_slot_goes(WorkerContext& context) {
  SocketPair pair;
  SocketPair orphan;
  std::atomic<bool> held{false};
  std::atomic<bool> giving{false};
  std::thread filler([&] {
    const bool taken = context.pool().queue(1).push_if(HandoffToken{pair.a.get(), 0, 0}.pack(), [&](std::uint32_t) {
      held = true;
      EXPECT_TRUE(wait_until([&] { return giving.load(); }));
      for (int i = 0; i < 200; ++i) std::this_thread::yield();
      return true;
    });
    if (taken) static_cast<void>(pair.a.release());
  });
  EXPECT_TRUE(wait_until([&] { return held.load(); }));
  giving = true;
  give_away(context, std::move(orphan.a), 0);
  filler.join();
}

// proves: C-CRASH-02, INV-04
TEST(Refused, AnOrphanIsOfferedToTheNextPeer) {
  Gate gate;
  std::atomic<std::uint64_t> refused{0};
  std::atomic<bool> over{false};
  const auto gives = [&](WorkerContext& context) {
    WorkerHandoffPool& pool = context.pool();
    for (int attempt = 0; attempt < 200 && refused == 0; ++attempt) {
      give_away_while_the_slot_goes(context);
      EXPECT_EQ(context.stats().cut.get(), 0U) << "attempt " << attempt << ": worker 2 has a place";
      std::size_t tokens = 0;
      for (const int worker : {1, 2}) {
        for (const std::int64_t packed : pool.queue(worker).drain()) {
          const UniqueFd closed(HandoffToken::unpack(packed).fd);
          ++tokens;
        }
      }
      EXPECT_EQ(tokens, 2U);
      refused = pool.queue(1).refused();
    }
    over = true;
  };
  auto server = Scheduler<OrphanFrontend>::start(own_loopback(), OrphanFrontend(gate, gives), 3, false, {},
                                                 uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(true, 1, 1)));
  EXPECT_TRUE(wait_until([&] { return over.load(); }));
  EXPECT_GT(refused, 0U);
  gate.open();
}

// proves: C-CRASH-02
TEST(Orphans, WakeAPeerThatSleepsAndNoOther) {
  Gate gate;
  std::atomic<bool> over{false};
  const auto gives = [&](WorkerContext& context) {
    WorkerHandoffPool& pool = context.pool();
    for (const bool asleep : {false, true, false}) {
      if (asleep) {
        EXPECT_TRUE(pool.begin_sleep(1));
      }
      const std::uint64_t before = context.stats().wakes_sent.get();
      SocketPair orphan;
      give_away(context, std::move(orphan.a), 0);
      EXPECT_EQ(context.stats().wakes_sent.get() - before, asleep ? 1U : 0U);
      pool.end_sleep(1);
      for (const std::int64_t packed : pool.queue(1).drain()) {
        const UniqueFd closed(HandoffToken::unpack(packed).fd);
      }
    }
    over = true;
  };
  auto server = Scheduler<OrphanFrontend>::start(own_loopback(), OrphanFrontend(gate, gives), 2, false, {},
                                                 uncapped(ListenerStrategy::kPerWorker, HandoffPolicy(true, 1, 1)));
  EXPECT_TRUE(wait_until([&] { return over.load(); }));
  gate.open();
}

// What a crashed peer left fills a worker that sleeps and has not paused. The client that wakes it is its peer's.
// proves: C-ACCEPT-03, C-ACCEPT-05, INV-17
TEST(Filled, AWorkerThatWasFilledInItsSleepLeavesAClientToItsPeer) {
  int woken = 0;
  for (int round = 0; round < 60 && woken < 3; ++round) {
    const int full = round % 2;  // which of them the kernel wakes is its choice
    Hooks hooks;
    Insight insight;
    SchedulerOptions options = uncapped(ListenerStrategy::kShared);
    options.serving.max_connections = 1;
    auto server = Scheduler<OpenFrontend>::start(own_loopback(), OpenFrontend(hooks, insight), 2, false, {}, options);
    const auto idle = [&](std::uint64_t live) {
      return wait_until([&] {
        const auto all = server.stats();
        return all[0].ticks > 0 && all[1].ticks > 0 && all[0].sleeping && all[1].sleeping &&
               all[static_cast<std::size_t>(full)].live == live;
      });
    };
    ASSERT_TRUE(idle(0));
    SocketPair pair;
    ASSERT_TRUE(insight.get()->pool.push_orphan(full, HandoffToken{pair.a.get(), 1 - full, 0}.pack()));
    static_cast<void>(pair.a.release());
    insight.get()->wakers[static_cast<std::size_t>(full)]->wake();
    ASSERT_TRUE(idle(1));
    LineClient client(server.addresses().front());
    ASSERT_EQ(who(client).served, 1 - full) << "round " << round;
    woken += server.stats()[static_cast<std::size_t>(full)].accept_pauses > 0 ? 1 : 0;
    insight.set(nullptr);
  }
  EXPECT_GT(woken, 0) << "in 60 rounds the client woke the other worker";
}

// Whoever leaves waits for no place any more: its peers need not ask it.
// proves: C-ACCEPT-05
TEST(Paused, AWorkerThatHasLeftCountsAsPausedNoMore) {
  Hooks hooks;
  FullWorker full(hooks);
  ASSERT_TRUE(full.held);
  ASSERT_TRUE(wait_until([&] { return full.pool().paused_count() == 1; }));
  full.server.shutdown();
  EXPECT_EQ(full.pool().paused_count(), 0);
}

// What the kernel has completed is served at the end of the accept phase, but not beyond the cap.
// proves: C-ACCEPT-05
TEST(Paused, ADrainGivesNobodyAPlaceThatIsTaken) {
  Hooks hooks;
  FullWorker full(hooks);
  ASSERT_TRUE(full.held);
  ASSERT_TRUE(wait_until([&] { return full.pool().paused_count() == 1; }));
  const std::vector<ShutdownReport> reports = full.server.drain(2000);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].accepted, 1);
}

}  // namespace
}  // namespace flare::testing
