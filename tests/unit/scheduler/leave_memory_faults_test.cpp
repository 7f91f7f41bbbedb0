// A worker that leaves, crashes, is cut or reported when there is no memory left: nothing stays open, nobody waits.
#include <sys/socket.h>

#include <array>
#include <stdexcept>
#include <thread>

#include "flare/worker/loop_token.h"
#include "harness.h"
#include "support/fault_memory.h"

namespace flare::testing {
namespace {

// Longer than what a string holds in itself.
constexpr const char* kWhy = "the disk of worker 1 is on fire";

// What the workers do once they have passed their gate; before it worker 1 puts one end of a pair of sockets into its
// own queue, as if a peer had handed it over.
enum class End { kThrows, kReturns, kServes };

class LeavingFrontend {
 public:
  LeavingFrontend(std::shared_ptr<Gate> gate, End end) : gate_(std::move(gate)), end_(end) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair_.data()), 0);
  }
  bool requires_per_worker_listener() const { return false; }
  // The client's end: its answers come from whoever serves the other one.
  int client_end() const { return pair_[0]; }

  void run_worker(WorkerContext& context) {
    const std::runtime_error error(kWhy);
    LineHandler handler = [this, &context](const std::string& line, int) {
      if (line == "block") leave(context);
      return line;
    };
    if (end_ != End::kServes && context.id() == 1) {
      leave(context);
      if (end_ == End::kThrows) throw error;
      return;
    }
    LineProtocol protocol(handler, context.stats());
    context.serve(protocol);
  }

 private:
  // From here to its end the worker has no memory.
  void leave(WorkerContext& context) {
    context.stats().accepted.add();
    EXPECT_TRUE(context.pool().push_orphan(context.id(), HandoffToken{pair_[1], context.id(), 0}.pack()));
    context.stats().handed_out.add();
    gate_->pass();
    faults::fail_allocations_from(1);
  }

  std::shared_ptr<Gate> gate_;
  End end_;
  std::array<int, 2> pair_{};
};

// Two workers; a client's request holds one of them in its handler, with a token in its queue.
struct InHandler {
  explicit InHandler(SchedulerOptions options)
      : scheduler(start_any(frontend, 2, std::move(options))), own(scheduler.addresses().front()) {
    EXPECT_TRUE(own.send("block\n"));
  }

  const std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  LeavingFrontend frontend{gate, End::kServes};
  const UniqueFd queued{frontend.client_end()};
  Scheduler<LeavingFrontend> scheduler;
  const OpenAtExit open{gate};
  LineClient own;
};

class WithoutMemory : public ::testing::TestWithParam<ListenerStrategy> {
 protected:
  // The sink takes no memory either: a worker that has none reports all the same.
  SchedulerOptions options() const {
    SchedulerOptions options = with(GetParam());
    options.serving.error_sink = [said = said_](std::string_view line) {
      if (line == kWhy) said->store(true);
    };
    options.serving.poll_cap = std::chrono::milliseconds(-1);
    return options;
  }
  bool said_why() const { return said_->load(); }
  static std::string answer(int fd) {
    std::array<char, 16> text{};
    pollfd wanted{fd, POLLIN, 0};
    if (::poll(&wanted, 1, 10000) != 1) return "nothing";
    const ssize_t got = ::recv(fd, text.data(), text.size(), 0);
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }

 private:
  const std::shared_ptr<std::atomic<bool>> said_ = std::make_shared<std::atomic<bool>>(false);
};

// proves: C-CRASH-01, C-CRASH-02, C-CRASH-03, INV-04, INV-22
TEST_P(WithoutMemory, WhoLeavesGivesItsQueueAndItsListenerUp) {
  for (const End end : {End::kThrows, End::kReturns}) {
    const Ledger ledger;
    {
      const auto gate = std::make_shared<Gate>();
      const LeavingFrontend frontend(gate, end);
      const UniqueFd queued(frontend.client_end());
      auto scheduler = start_any(frontend, 2, options());
      const OpenAtExit open(gate);
      ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
      EXPECT_EQ(::send(queued.get(), "q\n", 2, MSG_NOSIGNAL), 2);
      std::vector<LineClient> clients;
      for (int i = 0; i < 20; ++i) {
        clients.emplace_back(scheduler.addresses().front());
        EXPECT_TRUE(clients.back().send("x\n"));
      }
      gate->open();
      EXPECT_EQ(answer(queued.get()), "q\n");
      for (LineClient& client : clients) EXPECT_EQ(client.line(), "x");
      ASSERT_TRUE(ledger.await_threads_more(2 - 1));  // a client that meets its listener's close is reset
      for (int i = 0; i < 20; ++i) EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
      if (end == End::kThrows) {
        EXPECT_TRUE(wait_until([&] { return scheduler.crashed_worker_count() == 1; }));
        EXPECT_EQ(scheduler.stats()[1].error, kWhy);
        EXPECT_TRUE(wait_until([&] { return said_why(); }));
      }
      const auto reports = scheduler.drain(5000);
      expect_sound(reports);
      EXPECT_EQ(total(reports).left + total(reports).cut, 0);
      EXPECT_EQ(total(reports).accepted, 41);
    }
    EXPECT_TRUE(ledger.is_as_before());
  }
}

// proves: C-CRASH-02, C-CRASH-03, INV-04, INV-22
TEST_P(WithoutMemory, ALoopThatCrashesGivesItsQueueAndItsListenerUp) {
  const Ledger ledger;
  {
    InHandler held(options());
    ASSERT_TRUE(wait_until([&] { return held.gate->was_entered(); }));
    EXPECT_EQ(::send(held.queued.get(), "q\n", 2, MSG_NOSIGNAL), 2);
    held.gate->open();
    // It comes back to a loop in which the queue's list is the first thing that takes memory.
    EXPECT_EQ(answer(held.queued.get()), "q\n");
    ASSERT_TRUE(ledger.await_threads_more(2 - 1));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(LineClient(held.scheduler.addresses().front()).ask("x"), "x");
    EXPECT_EQ(held.scheduler.crashed_worker_count(), 1);
    held.own.close();
    const auto reports = held.scheduler.drain(5000);
    expect_sound(reports);
    EXPECT_EQ(total(reports).cut, 1) << "its own connection";
    EXPECT_EQ(total(reports).left, 0);
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-STOP-01, C-DRAIN-08, INV-13, INV-22
TEST_P(WithoutMemory, AWorkerThatReadsCutClosesItsQueue) {
  const Ledger ledger;
  {
    InHandler held(options());
    ASSERT_TRUE(wait_until([&] { return held.gate->was_entered(); }));
    held.scheduler.request_stop();
    held.scheduler.request_stop();
    held.gate->open();
    const auto reports = held.scheduler.drain(5000);
    expect_sound(reports);
    EXPECT_EQ(total(reports).crashed, 0);
    EXPECT_EQ(total(reports).cut, 2);
    EXPECT_EQ(answer(held.queued.get()), "") << "closed";
  }
  EXPECT_TRUE(ledger.is_as_before());
}

// One worker crashed with a long text, one is stuck with a token in its queue; two threads stop at once.
// proves: C-STOP-01, C-STOP-08, C-DRAIN-06, C-DRAIN-07, C-REPORT-04, INV-13, INV-15
TEST_P(WithoutMemory, AStopNeedsNone) {
  const Ledger ledger;
  const auto gate = std::make_shared<Gate>();
  {
    const OpenAtExit open(gate);
    class Broken : public LeavingFrontend {
     public:
      using LeavingFrontend::LeavingFrontend;
      void run_worker(WorkerContext& context) {
        if (context.id() == 0) throw std::runtime_error(kWhy);
        LeavingFrontend::run_worker(context);
      }
    };
    struct Stops {
      std::vector<ShutdownReport> reports[2];
      std::atomic<int> failed{0};
      std::atomic<int> returned{0};
    };
    const Broken frontend(gate, End::kReturns);
    const UniqueFd queued(frontend.client_end());
    // Kept for ever if a stop does not come back: its destructor would wait for that too.
    auto* scheduler = new Scheduler<Broken>(start_any(frontend, 3, options()));
    ASSERT_TRUE(wait_until([&] { return gate->was_entered() && scheduler->crashed_worker_count() == 1; }));
    const auto stops = std::make_shared<Stops>();
    for (auto& reports : stops->reports) {
      std::thread([&reports, stops, scheduler] {
        faults::fail_allocations_from(1);
        try {
          reports = scheduler->drain(20);
        } catch (const std::bad_alloc&) {
        }
        stops->failed += static_cast<int>(faults::end_allocation_faults());
        ++stops->returned;
      }).detach();
    }
    ASSERT_TRUE(wait_until([&] { return stops->returned == 2; })) << "a caller was left waiting";
    EXPECT_EQ(stops->failed, 0);
    const auto& reports = stops->reports[stops->reports[0].empty() ? 1 : 0];
    EXPECT_EQ(reports.size(), 3U);
    EXPECT_EQ(stops->reports[0].size() + stops->reports[1].size(), 3U);
    expect_sound(reports);
    EXPECT_EQ(total(reports).crashed, 1);
    EXPECT_EQ(total(reports).stuck, 1);
    EXPECT_EQ(total(reports).cut, 1);
    EXPECT_EQ(reports.front().error, kWhy);
    EXPECT_EQ(scheduler->stats().front().error, kWhy);
    EXPECT_EQ(answer(queued.get()), "") << "closed";
    delete scheduler;
  }
  EXPECT_TRUE(ledger.is_as_before());
}

INSTANTIATE_TEST_SUITE_P(Strategy, WithoutMemory,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
