// A push that its target refuses, made certain: the last slot is taken between the donor's choice and its push.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <mutex>
#include <thread>

#include "flare/worker/loop_token.h"
#include "hook_frontend.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

// What the workers share, as soon as one of them has begun.
struct Insight {
  std::mutex mutex;
  Shared<WorkerShared> shared;
};

class OpenFrontend : public HookFrontend {
 public:
  OpenFrontend(Hooks& hooks, Insight& insight) : HookFrontend(hooks), insight_(&insight) {}
  void run_worker(WorkerContext& context) {
    {
      const std::lock_guard<std::mutex> lock(insight_->mutex);
      insight_->shared = context.shared();
    }
    HookFrontend::run_worker(context);
  }

 private:
  Insight* insight_;
};

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
  auto server = Scheduler<OpenFrontend>::start(SocketAddress::loopback_v4(), OpenFrontend(hooks, insight), 2, false, {},
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
    LineClient client = connect_while_the_slot_goes(*insight.shared, address);
    const std::optional<std::string> answer = client.line();
    ASSERT_TRUE(answer) << "attempt " << attempt << ": the connection was lost";
    refused = server.stats()[0].refused;
    if (refused > 0) {
      EXPECT_EQ(answer, "0 0");
    }
  }
  EXPECT_GT(refused, 0U);
  insight.shared = nullptr;
}

}  // namespace
}  // namespace flare::testing
