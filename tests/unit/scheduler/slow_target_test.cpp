// A target that is slow, but not stuck.
#include "flare/base/limits.h"
#include "flare/kernel/system_kernel.h"
#include "flare/worker/loop_token.h"
#include "harness.h"

namespace flare::testing {
namespace {

// Worker 1 takes what it was handed once, when the gate opens, and then nothing until the next one opens.
class SlowWorker : public LineFrontend {
 public:
  SlowWorker(std::shared_ptr<Gate> first, std::shared_ptr<Gate> second)
      : LineFrontend([](const std::string&, int worker) { return std::to_string(worker); }),
        first_(std::move(first)),
        second_(std::move(second)) {}
  void run_worker(WorkerContext& context) {
    if (context.id() == 1) {
      context.listeners().front()->disable();
      first_->pass();
      std::vector<UniqueFd> taken;
      for (const std::int64_t packed : context.pool().drain_local(1)) {
        taken.emplace_back(HandoffToken::unpack(packed).fd);
      }
      second_->pass();
    }
    LineFrontend::run_worker(context);
  }

 private:
  std::shared_ptr<Gate> first_;
  std::shared_ptr<Gate> second_;
};

// A server of two workers, of which the second is slow: it has entered its first gate.
struct SlowTarget {
  explicit SlowTarget(int max_connections = 0)
      : scheduler(start_any(SlowWorker(first, second), 2, options(max_connections))) {
    EXPECT_TRUE(wait_until([this] { return first->was_entered(); }));
  }
  static SchedulerOptions options(int max_connections) {
    SchedulerOptions options = with(ListenerStrategy::kPerWorker);
    options.policy = HandoffPolicy(true, 64, 1);
    options.serving.max_connections = max_connections;
    return options;
  }

  const std::shared_ptr<Gate> first = std::make_shared<Gate>();
  const std::shared_ptr<Gate> second = std::make_shared<Gate>();
  Scheduler<SlowWorker> scheduler;
  const OpenAtExit open_first{first};  // before the scheduler ends, which waits for its workers
  const OpenAtExit open_second{second};
};

// The time of a token is counted from the last that its target took, so that a slow one is not robbed of young tokens.
// proves: C-POOL-08
TEST(SchedulerSlowTarget, KeepsATokenThatIsYoungerThanItsLastLook) {
  SlowTarget at;
  ASSERT_FALSE(HasFailure());
  Scheduler<SlowWorker>& scheduler = at.scheduler;
  LineClient stays(scheduler.addresses().front());
  EXPECT_EQ(stays.ask("x"), "0");
  const MonoTime start = SystemKernel::now();
  LineClient taken(scheduler.addresses().front());
  ASSERT_TRUE(wait_until([&] { return scheduler.stats()[1].queued == 1; }));
  at.first->open();
  ASSERT_TRUE(wait_until([&] { return at.second->was_entered(); }));
  const std::uint64_t taken_back = scheduler.stats()[0].taken_back;
  const MonoTime before = SystemKernel::now();
  LineClient younger(scheduler.addresses().front());
  EXPECT_TRUE(younger.send("x\n"));
  // The first look at the target comes a while after start, finds that it moves, and the second one a while later. On a
  // machine that stood still for so long the first look found nothing, and the time is counted from the push.
  const bool in_time = SystemKernel::now() - start < limits::kTakeBackAfter;
  EXPECT_EQ(younger.line(), "0");
  EXPECT_GE(SystemKernel::now(), in_time ? start + 2 * limits::kTakeBackAfter : before + limits::kTakeBackAfter);
  EXPECT_EQ(scheduler.stats()[0].taken_back - taken_back, 1U);
}

// A worker without a place of its own accepts for a peer, straight into its queue. That it watches, too.
// proves: C-POOL-08
TEST(SchedulerSlowTarget, WhatWasAcceptedForItComesBackToo) {
  SlowTarget at(1);
  ASSERT_FALSE(HasFailure());
  Scheduler<SlowWorker>& scheduler = at.scheduler;
  LineClient stays(scheduler.addresses().front());
  EXPECT_EQ(stays.ask("x"), "0");
  LineClient for_a_peer(scheduler.addresses().front());
  EXPECT_EQ(for_a_peer.ask("x"), "0");
  EXPECT_EQ(scheduler.stats()[0].taken_back, 1U);
}

}  // namespace
}  // namespace flare::testing
