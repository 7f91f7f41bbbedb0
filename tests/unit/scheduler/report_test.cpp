// Each way a connection can end, as the live counters and the report tell it.
#include <new>

#include "flare/kernel/system_kernel.h"
#include "harness.h"

namespace flare::testing {
namespace {

// The first line says what becomes of the connection; there is one word for each reason.
class ScriptedConnection : public Connection {
 public:
  Step on_open(const Wire&) override { return Step::keep(INTEREST_READ); }
  Step on_turn(const Wire&) override { return Step::keep(INTEREST_READ); }
  Step on_deadline(const Wire&) override { return Step::close(CloseReason::kDeadline); }
  Step on_drain(const Wire&) override { return Step::keep(INTEREST_READ); }
  Step on_grace_over(const Wire&) override { return Step::linger(CloseReason::kIdleDrained); }
  bool unanswered() const override { return false; }
  Step on_ready(const Wire& wire, Readiness) override {
    const Result<std::size_t> got = SystemKernel::recv(wire.fd, wire.scratch, wire.scratch_size);
    if (!got.ok()) return got.error() == EAGAIN ? Step::keep(INTEREST_READ) : Step::close(CloseReason::kPeerGone);
    if (got.value() == 0) return Step::close(CloseReason::kPeerGone);
    const std::string word(wire.scratch, got.value());
    if (word == "answer\n") return Step::close(CloseReason::kAnswered);
    if (word == "linger\n") return Step::linger(CloseReason::kAnswered);
    if (word == "deadline\n") return Step::keep(INTEREST_READ, wire.now + std::chrono::milliseconds(1));
    if (word == "protocol\n") return Step::linger(CloseReason::kProtocolError);
    if (word == "throw\n") throw std::runtime_error("thrown");
    if (word == "throw int\n") throw 7;
    return Step::keep(INTEREST_READ);
  }
};

class ScriptedProtocol : public Protocol {
 public:
  explicit ScriptedProtocol(std::atomic<bool>& no_memory) : no_memory_(no_memory) {}
  std::unique_ptr<Connection> open() override {
    if (no_memory_) throw std::bad_alloc();
    return std::make_unique<ScriptedConnection>();
  }

 private:
  std::atomic<bool>& no_memory_;
};

class ScriptedFrontend {
 public:
  explicit ScriptedFrontend(std::shared_ptr<std::atomic<bool>> no_memory) : no_memory_(std::move(no_memory)) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    ScriptedProtocol protocol(*no_memory_);
    context.serve(protocol);
  }

 private:
  std::shared_ptr<std::atomic<bool>> no_memory_;
};

// proves: C-REPORT-03, C-SERVE-05, C-SERVE-09, INV-22
TEST(ShutdownReport, CountsEachReasonApart) {
  const auto no_memory = std::make_shared<std::atomic<bool>>(false);
  auto scheduler = start_any(ScriptedFrontend(no_memory), 1, with(ListenerStrategy::kShared));
  const SocketAddress address = scheduler.addresses().front();
  for (const char* word : {"answer\n", "linger\n", "deadline\n", "protocol\n", "throw\n", "throw int\n"}) {
    LineClient client(address);
    EXPECT_TRUE(client.send(word));
    EXPECT_NE(client.await_end(), StreamEnd::kOpen) << word;
  }
  LineClient(address).close();
  LineClient(address).reset();
  ASSERT_TRUE(wait_until([&] { return scheduler.stats()[0].accepted == 8 && live(scheduler.stats()) == 0; }))
      << "live counts return to zero";
  *no_memory = true;
  for (int i = 0; i < 2; ++i) EXPECT_NE(LineClient(address).await_end(), StreamEnd::kOpen);
  *no_memory = false;
  LineClient idle(address);
  ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));

  const WorkerSnapshot before = scheduler.stats()[0];
  EXPECT_EQ(before.finished, 10U);
  EXPECT_EQ(before.drained, 0U);
  const auto reports = scheduler.drain(30000);
  ASSERT_EQ(reports.size(), 1U);
  expect_sound(reports);
  const ShutdownReport& report = reports[0];
  EXPECT_EQ(report.accepted, 11);
  EXPECT_EQ(report.finished, 11);
  EXPECT_EQ(because(report, CloseReason::kAnswered), 2);
  EXPECT_EQ(because(report, CloseReason::kDeadline), 1);
  EXPECT_EQ(because(report, CloseReason::kProtocolError), 1);
  EXPECT_EQ(because(report, CloseReason::kHandlerThrew), 2);
  EXPECT_EQ(because(report, CloseReason::kPeerGone), 2);
  EXPECT_EQ(because(report, CloseReason::kSetupFailed), 2);
  EXPECT_EQ(because(report, CloseReason::kIdleDrained), 1);
  EXPECT_EQ(report.drained, 1) << "only what ended after draining was seen";
  EXPECT_EQ(report.cut, 0);
  EXPECT_EQ(idle.await_end(), StreamEnd::kEof);
}

// proves: C-REPORT-01, C-REPORT-02, C-SERVE-01
TEST(ShutdownReport, HandoffsAreCountedOnBothSides) {
  SchedulerOptions options = with(ListenerStrategy::kShared);
  options.policy = HandoffPolicy(true, 64, 1);
  auto scheduler = start_any(echo(), 4, options);
  std::vector<LineClient> clients;
  for (int i = 0; i < 32; ++i) {
    clients.emplace_back(scheduler.addresses().front());
    EXPECT_EQ(clients.back().ask("x"), "x");
  }
  const auto reports = scheduler.drain(30000);
  expect_sound(reports);
  const ShutdownReport sum = total(reports);
  EXPECT_EQ(sum.accepted, 32);
  EXPECT_GT(sum.handed_out, 0);
  EXPECT_EQ(sum.handed_out, sum.received);
  EXPECT_EQ(sum.finished, 32);
  EXPECT_EQ(sum.drained, 32);
  EXPECT_EQ(sum.requests, 32);
}

// proves: C-SERVE-09, C-REPORT-01
TEST(ShutdownReport, EachWorkersCountersAreItsOwn) {
  auto scheduler = start_any(tell_worker(), 4, with(ListenerStrategy::kPerWorker));
  std::vector<std::int64_t> answers(4, 0);
  for (int i = 0; i < 48; ++i) {
    LineClient client(scheduler.addresses().front());
    const std::optional<std::string> worker = client.ask("x");
    ASSERT_TRUE(worker.has_value());
    ++answers.at(static_cast<std::size_t>(std::stoi(*worker)));
  }
  const auto reports = scheduler.drain(30000);
  const auto stats = scheduler.stats();
  for (std::size_t id = 0; id < answers.size(); ++id) {
    EXPECT_EQ(answers[id], reports[id].requests) << "worker " << id;
    EXPECT_EQ(static_cast<std::uint64_t>(answers[id]), stats[id].requests) << "worker " << id;
  }
}

// proves: C-SERVE-01, C-REPORT-01
TEST(ShutdownReport, WithTheHandoffOffNoConnectionMoves) {
  auto scheduler = start_any(echo(), 4, with(ListenerStrategy::kShared));
  std::vector<LineClient> clients;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back(scheduler.addresses().front());
    EXPECT_EQ(clients.back().ask("x"), "x");
  }
  const auto reports = scheduler.drain(0);
  expect_sound(reports);
  EXPECT_EQ(total(reports).handed_out, 0);
  EXPECT_EQ(total(reports).cut, 16);
}

// proves: C-REPORT-01
TEST(AddsUp, SeesAWorkerThatLostOneAndATokenThatNobodyReceived) {
  ShutdownReport good;
  good.accepted = 3;
  good.received = 1;
  good.finished = 2;
  good.cut = 1;
  good.left = 1;
  EXPECT_TRUE(good.identity());
  EXPECT_FALSE(adds_up({good})) << "received, but handed out by nobody";
  ShutdownReport donor;
  donor.accepted = 1;
  donor.handed_out = 1;
  EXPECT_TRUE(adds_up({good, donor}));
  EXPECT_TRUE(adds_up({}));
  donor.finished = 1;
  EXPECT_FALSE(donor.identity());
  EXPECT_FALSE(adds_up({good, donor}));
}

}  // namespace
}  // namespace flare::testing
