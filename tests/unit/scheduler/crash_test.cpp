// A worker whose run_worker throws: what its peers, its clients and the report see.
#include <cerrno>
#include <functional>
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

// Worker `broken` (-1: all) passes the gate, then throws; the others serve. Each makes the error that it throws: copies
// of one std::runtime_error share their text and its count, which are libstdc++'s, so tsan can't see their order.
class BrokenFrontend : public LineFrontend {
 public:
  BrokenFrontend(std::shared_ptr<Gate> gate, int broken, std::function<void()> fail)
      : LineFrontend([](const std::string&, int worker) { return std::to_string(worker); }),
        gate_(std::move(gate)),
        broken_(broken),
        fail_(std::move(fail)) {}
  void run_worker(WorkerContext& context) {
    if (broken_ >= 0 && context.id() != broken_) return LineFrontend::run_worker(context);
    gate_->pass();
    fail_();
  }

 private:
  std::shared_ptr<Gate> gate_;
  int broken_;
  std::function<void()> fail_;
};

std::function<void()> throws(const char* text) {
  return [text] { throw std::runtime_error(text); };
}

class SchedulerCrash : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-CRASH-01, C-CRASH-02, C-CRASH-03, C-REPORT-04, INV-17, INV-22
TEST_P(SchedulerCrash, ClientsOfItsListenerAndQueueAreServedByPeers) {
  for (const bool handoff : {false, true}) {
    const Ledger ledger;
    {
      const auto gate = std::make_shared<Gate>();
      Lines lines;
      SchedulerOptions options = with(GetParam(), &lines);
      options.policy = HandoffPolicy(handoff, 64, 1);
      options.serving.poll_cap = std::chrono::milliseconds(-1);  // no wake may be missing
      auto scheduler = start_any(BrokenFrontend(gate, 1, throws("the disk of worker 1 is on fire")), 3, options);
      const OpenAtExit open(gate);
      ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
      // Some stand in the broken worker's own backlog, or were handed to its queue: it has no load, so it is chosen.
      std::vector<LineClient> clients;
      for (int i = 0; i < 30; ++i) {
        clients.emplace_back(scheduler.addresses().front());
        EXPECT_TRUE(clients.back().send("x\n"));
      }
      const auto queued = [&] { return scheduler.stats()[1].queued; };
      // Whose own clients wait unaccepted is handed none but by luck.
      if (handoff && GetParam() == ListenerStrategy::kShared) {
        EXPECT_TRUE(wait_until([&] { return queued() > 0; }));
      }
      EXPECT_EQ(scheduler.crashed_worker_count(), 0);
      gate->open();
      for (LineClient& client : clients) {
        const std::string answer = client.line().value_or("nothing");
        EXPECT_TRUE(answer == "0" || answer == "2") << answer;
      }
      ASSERT_TRUE(wait_until([&] { return scheduler.crashed_worker_count() == 1; }));
      EXPECT_TRUE(scheduler.stats()[1].crashed);
      EXPECT_EQ(scheduler.stats()[1].error, "the disk of worker 1 is on fire");
      EXPECT_TRUE(wait_until([&] { return lines.has("worker 1 crashed: the disk of worker 1 is on fire"); }));
      EXPECT_TRUE(scheduler.is_running());
      ASSERT_TRUE(ledger.await_threads_more(3 - 1));
      for (int i = 0; i < 30; ++i) EXPECT_TRUE(LineClient(scheduler.addresses().front()).ask("x"));
      const auto reports = scheduler.drain(10000);
      expect_sound(reports);
      EXPECT_EQ(reports[1].crashed, 1);
      EXPECT_EQ(reports[1].error, "the disk of worker 1 is on fire");
      EXPECT_EQ(total(reports).crashed, 1);
      EXPECT_EQ(total(reports).cut, 0);
      EXPECT_EQ(total(reports).finished, 60);
      EXPECT_EQ(scheduler.crashed_worker_count(), 1) << "still known after the stop";
    }
    EXPECT_TRUE(ledger.is_as_before());
  }
}

// With listeners of their own, what a peer hands over goes to whoever has no client waiting: here the broken worker,
// whose listener takes none. So the tokens in its queue are all that it leaves.
// proves: C-CRASH-02, C-CRASH-03, INV-04, INV-22
TEST(SchedulerCrashQueue, TokensOfAWorkerWithAListenerOfItsOwnAreServedByAPeer) {
  class Deaf : public BrokenFrontend {
   public:
    using BrokenFrontend::BrokenFrontend;
    void run_worker(WorkerContext& context) {
      if (context.id() == 1) context.listeners().front()->disable();
      BrokenFrontend::run_worker(context);
    }
  };
  const Ledger ledger;
  {
    const auto gate = std::make_shared<Gate>();
    SchedulerOptions options = with(ListenerStrategy::kPerWorker);
    options.policy = HandoffPolicy(true, 64, 1);
    options.serving.poll_cap = std::chrono::milliseconds(-1);
    auto scheduler = start_any(Deaf(gate, 1, throws("broken")), 2, options);
    const OpenAtExit open(gate);
    ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
    std::vector<LineClient> clients;
    for (int i = 0; i < 10; ++i) {
      clients.emplace_back(scheduler.addresses().front());
      EXPECT_TRUE(clients.back().send("x\n"));
    }
    ASSERT_TRUE(wait_until([&] { return scheduler.stats()[1].queued > 0; }));
    gate->open();
    for (LineClient& client : clients) EXPECT_EQ(client.line(), "0");
    ASSERT_TRUE(wait_until([&] { return scheduler.crashed_worker_count() == 1; }));
    const auto reports = scheduler.drain(5000);
    expect_sound(reports);
    EXPECT_EQ(reports[1].accepted, 0);
    EXPECT_EQ(reports[1].received, reports[1].handed_out);
    EXPECT_EQ(total(reports).cut, 0);
    EXPECT_EQ(total(reports).finished, 10);
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-CRASH-03, C-STOP-06, C-STOP-01, INV-13
TEST_P(SchedulerCrash, WhenAllCrashedTheListenersRefuseAndWaitReturns) {
  const Ledger ledger;
  {
    const auto gate = std::make_shared<Gate>();
    auto scheduler = start_any(BrokenFrontend(gate, -1, throws("none is left")), 3, with(GetParam()));
    const OpenAtExit open(gate);
    ASSERT_TRUE(wait_until([&] { return gate->was_entered(3); }));
    std::vector<LineClient> clients;
    for (int i = 0; i < 12; ++i) clients.emplace_back(scheduler.addresses().front());
    EXPECT_TRUE(scheduler.is_running());
    gate->open();
    scheduler.wait();
    EXPECT_TRUE(wait_until([&] { return !scheduler.is_running(); }));
    EXPECT_EQ(scheduler.crashed_worker_count(), 3);
    EXPECT_EQ(LineClient(scheduler.addresses().front()).connect_error(), ECONNREFUSED);
    for (LineClient& client : clients) EXPECT_NE(client.await_end(), StreamEnd::kOpen) << "nobody is left waiting";
    const auto before = std::chrono::steady_clock::now();
    const auto reports = scheduler.drain(600000);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::minutes(1)) << "there is nothing to wait for";
    ASSERT_EQ(reports.size(), 3U);
    expect_sound(reports);
    EXPECT_EQ(total(reports).crashed, 3);
    EXPECT_EQ(total(reports).finished, 0);
    scheduler.shutdown();
  }
  EXPECT_TRUE(ledger.is_as_before());
}

struct NoText : std::exception {
  const char* what() const noexcept override { return ""; }
};

template <class Error>
std::string text_of_crash(const Error& error) {
  const auto gate = std::make_shared<Gate>();
  gate->open();
  Lines lines;
  auto scheduler = start_any(BrokenFrontend(gate, 0, [&] { throw error; }), 1, with(ListenerStrategy::kShared, &lines));
  EXPECT_TRUE(wait_until([&] { return scheduler.crashed_worker_count() == 1; }));
  const auto reports = scheduler.drain(1000);
  expect_sound(reports);
  return reports.front().error;
}

// proves: C-CRASH-01, C-REPORT-04
TEST(SchedulerCrashText, WhateverIsThrownIsACrashWithAText) {
  EXPECT_EQ(text_of_crash(std::runtime_error("why")), "why");
  EXPECT_EQ(text_of_crash(NoText()), "an exception without a text");
  EXPECT_EQ(text_of_crash(42), "an exception that is no std::exception");
  EXPECT_EQ(text_of_crash(std::runtime_error(std::string(5000, 'x'))), std::string(512, 'x'));
}

// A worker that returns although nobody asked it to did not crash; its clients must not be lost either.
// proves: C-CRASH-03, INV-17
TEST_P(SchedulerCrash, AWorkerThatReturnsEarlyLeavesItsClientsToItsPeers) {
  class Leaving : public LineFrontend {
   public:
    explicit Leaving(std::shared_ptr<Gate> gate)
        : LineFrontend([](const std::string& line, int) { return line; }), gate_(std::move(gate)) {}
    void run_worker(WorkerContext& context) {
      if (context.id() != 0) return LineFrontend::run_worker(context);
      gate_->pass();
    }

   private:
    std::shared_ptr<Gate> gate_;
  };
  const auto gate = std::make_shared<Gate>();
  SchedulerOptions options = with(GetParam());
  options.serving.poll_cap = std::chrono::milliseconds(-1);
  const Ledger ledger;
  auto scheduler = start_any(Leaving(gate), 2, options);
  const OpenAtExit open(gate);
  ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
  std::vector<LineClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back(scheduler.addresses().front());
    EXPECT_TRUE(clients.back().send("x\n"));
  }
  gate->open();
  for (LineClient& client : clients) EXPECT_EQ(client.line(), "x");
  EXPECT_TRUE(scheduler.is_running());
  EXPECT_EQ(scheduler.crashed_worker_count(), 0);
  ASSERT_TRUE(ledger.await_threads_more(2 - 1));  // a client that meets its listener's close is reset
  for (int i = 0; i < 20; ++i) EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("y"), "y");
  expect_sound(scheduler.drain(5000));
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerCrash,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
