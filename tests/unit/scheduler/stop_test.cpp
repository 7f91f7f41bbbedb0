// Every order of stopping: twice, from two threads, from inside, early, late, by the destructor.
#include <cerrno>
#include <thread>

#include "flare/base/network_error.h"
#include "harness.h"

namespace flare::testing {
namespace {

class SchedulerStop : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-STOP-01, C-DRAIN-07, INV-13
TEST_P(SchedulerStop, EveryPairOfStopsIsTakenOnceAndHarmlessAfterwards) {
  enum class Call { kShutdown, kDrain, kDrainZero, kRequest };
  const auto make = [](LineScheduler& scheduler, Call call) -> std::size_t {
    switch (call) {
      case Call::kShutdown:
        scheduler.shutdown();
        return 0;
      case Call::kDrain:
        return scheduler.drain(2000).size();
      case Call::kDrainZero:
        return scheduler.drain(0).size();
      case Call::kRequest:
        scheduler.request_stop();
        return 0;
    }
    return 0;
  };
  const Call calls[] = {Call::kShutdown, Call::kDrain, Call::kDrainZero, Call::kRequest};
  for (const Call first : calls) {
    for (const Call second : calls) {
      const Ledger ledger;
      {
        auto scheduler = start_any(echo(), 2, with(GetParam()));
        LineClient client(scheduler.addresses().front());
        EXPECT_EQ(client.ask("x"), "x");
        const std::size_t reports = make(scheduler, first);
        const bool drains = first == Call::kDrain || first == Call::kDrainZero;
        EXPECT_EQ(reports, drains ? 2U : 0U);
        if (first != Call::kRequest) {
          EXPECT_FALSE(scheduler.is_running());
        }
        const std::size_t again = make(scheduler, second);
        if (first != Call::kRequest) {
          EXPECT_EQ(again, 0U);
        }
        make(scheduler, second);
        if (second != Call::kRequest) {
          EXPECT_FALSE(scheduler.is_running());
        }
        EXPECT_NE(client.await_end(), StreamEnd::kOpen);
      }
      EXPECT_TRUE(ledger.is_as_before()) << static_cast<int>(first) << " then " << static_cast<int>(second);
    }
  }
}

// proves: C-STOP-01, C-DRAIN-07, INV-13
TEST_P(SchedulerStop, OfTwoThreadsThatStopAtOnceExactlyOneGetsTheReports) {
  int drain_led = 0;
  for (int round = 0; round < 30; ++round) {
    auto scheduler = start_any(echo(), 2, with(GetParam()));
    LineClient client(scheduler.addresses().front());
    EXPECT_EQ(client.ask("x"), "x");
    const bool two_drains = round % 2 == 0;
    std::size_t other = 0;
    std::thread second([&] {
      if (two_drains) other = scheduler.drain(1000).size();
      if (!two_drains) scheduler.shutdown();
    });
    const auto reports = scheduler.drain(1000);
    EXPECT_FALSE(scheduler.is_running()) << "all return when the stop is over";
    second.join();
    if (two_drains) {
      EXPECT_EQ(reports.size() + other, 2U);
    }
    if (!two_drains) {
      EXPECT_TRUE(reports.empty() || reports.size() == 2U);
    }
    if (!reports.empty()) expect_sound(reports);
    drain_led += reports.empty() ? 0 : 1;
  }
  RecordProperty("drain_led", drain_led);
}

// proves: C-STOP-02
TEST_P(SchedulerStop, FromAWorkersOwnThreadItIsRefusedAndTheServerGoesOn) {
  LineScheduler scheduler;
  LineScheduler* const self = &scheduler;
  scheduler = start_any(LineFrontend([self](const std::string& line, int) -> std::string {
                          try {
                            if (line == "shutdown") self->shutdown();
                            if (line == "drain") self->drain(100);
                            if (line == "drain0") self->drain(0);
                            if (line == "wait") self->wait();
                            return "done " + line;
                          } catch (const NetworkError& error) {
                            return error.code().value() == EDEADLK ? "EDEADLK" : error.what();
                          }
                        }),
                        2, with(GetParam()));
  LineClient client(scheduler.addresses().front());
  for (const char* call : {"shutdown", "drain", "drain0", "wait"}) EXPECT_EQ(client.ask(call), "EDEADLK") << call;
  EXPECT_TRUE(scheduler.is_running());
  EXPECT_EQ(client.ask("hello"), "done hello");
  EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("new"), "done new");
  expect_sound(scheduler.drain(2000));
}

// A worker may ask for the stop that it may not lead.
// proves: C-STOP-03
TEST_P(SchedulerStop, RequestStopFromAHandlerDrains) {
  LineScheduler scheduler;
  LineScheduler* const self = &scheduler;
  scheduler = start_any(LineFrontend([self](const std::string& line, int) {
                          self->request_stop();
                          return line;
                        }),
                        2, with(GetParam()));
  LineClient client(scheduler.addresses().front());
  EXPECT_EQ(client.ask("last"), "last");
  scheduler.wait();
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  const auto reports = scheduler.drain(5000);
  expect_sound(reports);
  EXPECT_EQ(total(reports).drained, 1);
  EXPECT_EQ(total(reports).cut, 0);
}

class LateFrontend : public LineFrontend {
 public:
  LateFrontend(std::shared_ptr<Gate> gate, LineHandler handler)
      : LineFrontend(std::move(handler)), gate_(std::move(gate)) {}
  void run_worker(WorkerContext& context) {
    gate_->pass();
    LineFrontend::run_worker(context);
  }

 private:
  std::shared_ptr<Gate> gate_;
};

// proves: C-STOP-01, INV-11, INV-16
TEST_P(SchedulerStop, AWorkerThatHasNotBegunItsLoopObeysEachPhaseOfTheStop) {
  for (const char* phase : {"shutdown", "drain", "request"}) {
    const Ledger ledger;
    const auto gate = std::make_shared<Gate>();
    auto scheduler =
        start_any(LateFrontend(gate, [](const std::string& line, int) { return line; }), 2, with(GetParam()));
    const OpenAtExit open(gate);
    ASSERT_TRUE(wait_until([&] { return gate->was_entered(2); }));
    LineClient waiting(scheduler.addresses().front());
    EXPECT_TRUE(waiting.send("hello\n"));
    std::vector<ShutdownReport> reports;
    std::thread stopper([&] {
      if (std::string(phase) == "shutdown") scheduler.shutdown();
      if (std::string(phase) == "drain") reports = scheduler.drain(10000);
      if (std::string(phase) == "request") scheduler.request_stop();
    });
    scheduler.wait();  // the stop has begun, and no worker knows of it
    gate->open();
    stopper.join();
    if (std::string(phase) == "request") reports = scheduler.drain(10000);
    if (std::string(phase) == "shutdown") {
      EXPECT_NE(waiting.await_end(), StreamEnd::kOpen);
      EXPECT_EQ(waiting.rest(), "") << "cut: nothing is accepted any more";
    } else {
      EXPECT_EQ(waiting.line(), "hello") << phase << ": a late worker still drains";
      EXPECT_EQ(waiting.await_end(), StreamEnd::kEof);
      expect_sound(reports);
      EXPECT_EQ(total(reports).drained, 1);
    }
    EXPECT_EQ(LineClient(scheduler.addresses().front()).connect_error(), ECONNREFUSED);
    EXPECT_TRUE(ledger.threads() >= 1);
  }
}

// proves: C-STOP-06
TEST_P(SchedulerStop, WaitReturnsWhenAnotherThreadShutsDown) {
  auto scheduler = start_any(echo(), 2, with(GetParam()));
  std::atomic<bool> waiting{false};
  std::thread waiter([&] {
    waiting = true;
    scheduler.wait();
  });
  ASSERT_TRUE(wait_until([&] { return waiting.load(); }));
  EXPECT_TRUE(scheduler.is_running());
  scheduler.shutdown();
  waiter.join();
  scheduler.wait();  // after the stop it returns at once
}

// proves: C-STOP-06, C-STOP-03
TEST_P(SchedulerStop, WaitReturnsOnRequestStopWhileWorkersStillServe) {
  const auto gate = std::make_shared<Gate>();
  auto scheduler = start_any(blocking(gate), 2, with(GetParam()));
  const OpenAtExit open(gate);
  LineClient client(scheduler.addresses().front());
  EXPECT_TRUE(client.send("block\n"));
  ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
  scheduler.request_stop();
  scheduler.wait();
  EXPECT_TRUE(scheduler.is_running());
  gate->open();
  EXPECT_EQ(client.line(), "block");
  EXPECT_TRUE(wait_until([&] { return !scheduler.is_running(); })) << "drained without a deadline";
  expect_sound(scheduler.drain(1000));
}

// proves: INV-13, INV-16
TEST_P(SchedulerStop, TheStopReachesWorkersThroughMovesOfTheScheduler) {
  const Ledger ledger;
  {
    auto first = std::make_unique<LineScheduler>(start_any(echo(), 2, with(GetParam())));
    const SocketAddress address = first->addresses().front();
    auto second = std::make_unique<LineScheduler>(std::move(*first));
    first.reset();
    LineScheduler third;
    third = std::move(*second);
    second.reset();
    LineClient client(address);
    EXPECT_EQ(client.ask("x"), "x");
    third.request_stop();
    EXPECT_EQ(client.await_end(), StreamEnd::kEof);
    third.wait();
    const auto reports = third.drain(5000);
    EXPECT_EQ(reports.size(), 2U);
    expect_sound(reports);
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-STOP-01, INV-13
TEST_P(SchedulerStop, TheDestructorAndAssignmentShutDownWhatTheyDrop) {
  const Ledger ledger;
  {
    auto scheduler = start_any(echo(), 2, with(GetParam()));
    const SocketAddress old = scheduler.addresses().front();
    LineClient client(old);
    EXPECT_EQ(client.ask("x"), "x");
    scheduler = start_any(echo(), 2, with(GetParam()));
    EXPECT_NE(client.await_end(), StreamEnd::kOpen);
    EXPECT_EQ(LineClient(old).connect_error(), ECONNREFUSED);
    EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-STOP-05, INV-14
TEST_P(SchedulerStop, UnderConstantTrafficAndAStormItEnds) {
  for (const bool hard : {false, true}) {
    SchedulerOptions options = with(GetParam());
    options.serving.poll_cap = std::chrono::milliseconds(-1);
    auto scheduler = start_any(echo(), 2, options);
    const SocketAddress address = scheduler.addresses().front();
    std::atomic<bool> stop{false};
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back([&, storm = i == 0] {
        LineClient client(address);
        while (!stop) {
          if (storm && client.connected()) client.reset();  // no port is left in TIME_WAIT
          if (!client.connected()) client = LineClient(address);
          if (!client.connected() || !client.ask("x")) client.close();
        }
      });
    }
    EXPECT_TRUE(wait_until([&] {
      std::uint64_t requests = 0;
      for (const WorkerSnapshot& one : scheduler.stats()) requests += one.requests;
      return requests > 200;
    }));
    const auto reports = scheduler.drain(hard ? 0 : 60000);
    stop = true;
    for (std::thread& client : clients) client.join();
    expect_sound(reports);
    EXPECT_EQ(total(reports).stuck, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerStop,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
