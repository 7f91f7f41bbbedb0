// Start, serve, stop: the thin path through the real Scheduler, and what a call on an empty one does.
#include "flare/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include "support/line_client.h"
#include "support/line_protocol.h"
#include "support/own_loopback.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

LineFrontend echo() {
  return LineFrontend([](const std::string& line, int) { return line; });
}

TEST(Scheduler, OneWorkerAnswersOneClientAndStops) {
  auto scheduler = Scheduler<LineFrontend>::start(own_loopback(), echo(), 1);
  ASSERT_TRUE(scheduler.is_running());
  LineClient client(scheduler.addresses().front());
  EXPECT_EQ(client.ask("hello"), "hello");
  const auto reports = scheduler.drain(2000);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(adds_up(reports));
  EXPECT_EQ(reports[0].accepted, 1);
  EXPECT_EQ(reports[0].finished, 1);
  EXPECT_EQ(reports[0].cut, 0);
  EXPECT_FALSE(scheduler.is_running());
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
}

TEST(Scheduler, HandoffSpreadsWhatOneWorkerAccepts) {
  SchedulerOptions options;
  options.policy = HandoffPolicy(true, 64, 1);
  options.strategy = ListenerStrategy::kShared;
  auto scheduler = Scheduler<LineFrontend>::start(own_loopback(), echo(), 4, true, {}, options);
  std::vector<LineClient> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back(scheduler.addresses().front());
    EXPECT_EQ(clients.back().ask("x"), "x");
  }
  for (const WorkerSnapshot& one : scheduler.stats()) EXPECT_LE(one.live, 3U);
  const auto reports = scheduler.drain(2000);
  EXPECT_TRUE(adds_up(reports));
  std::int64_t finished = 0;
  for (const auto& report : reports) finished += report.finished;
  EXPECT_EQ(finished, 8);
}

TEST(Scheduler, EmptyOnesAcceptEveryCall) {
  Scheduler<LineFrontend> never;
  EXPECT_FALSE(never.is_running());
  never.request_stop();
  never.wait();
  never.shutdown();
  EXPECT_TRUE(never.drain(10).empty());
  EXPECT_EQ(never.crashed_worker_count(), 0);
  EXPECT_TRUE(never.stats().empty());
  auto started = Scheduler<LineFrontend>::start(own_loopback(), echo(), 2);
  auto moved = std::move(started);
  started.shutdown();  // NOLINT: moved-from on purpose
  EXPECT_TRUE(moved.is_running());
  moved.shutdown();
  moved.shutdown();
  EXPECT_TRUE(moved.drain(10).empty());
}

// At run time, so that a concept that takes anything fails a test and not only a build.
TEST(FrontendConcept, TakesWhatCanBeCopiedAndServes) {
  struct Serves {
    bool requires_per_worker_listener() const { return false; }
    void run_worker(WorkerContext&) {}
  };
  struct ServesAndCannotBeCopied : Serves {
    ServesAndCannotBeCopied() = default;
    ServesAndCannotBeCopied(const ServesAndCannotBeCopied&) = delete;
    ServesAndCannotBeCopied& operator=(const ServesAndCannotBeCopied&) = delete;
  };
  EXPECT_TRUE(Frontend<Serves>);
  EXPECT_FALSE(Frontend<ServesAndCannotBeCopied>);
  EXPECT_FALSE(Frontend<int>);
}

}  // namespace
}  // namespace flare::testing
