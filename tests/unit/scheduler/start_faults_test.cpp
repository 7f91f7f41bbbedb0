// A start that fails at each of its steps leaves descriptors and threads as they were.
#include <cerrno>

#include "flare/base/network_error.h"
#include "harness.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

using faults::Symbol;

constexpr int kWorkers = 3;

struct Step {
  const char* name;
  Symbol symbol;
  int error;
};

LineScheduler start_with_extra(std::uint16_t port, ListenerStrategy strategy) {
  return LineScheduler::start(own_loopback(port), echo(), kWorkers, true, {own_loopback()}, with(strategy));
}

class SchedulerStartFaults : public ::testing::TestWithParam<ListenerStrategy> {};

// Each call that a start makes is made to fail once, from the first to the last.
// proves: C-START-02, C-STOP-01, INV-12
TEST_P(SchedulerStartFaults, EveryCallOfEveryStepMayFailAndLeavesNothingBehind) {
  const Step steps[] = {{"socket", Symbol::kSocket, EMFILE},
                        {"bind", Symbol::kBind, EACCES},
                        {"listen", Symbol::kListen, EADDRINUSE},
                        {"setsockopt", Symbol::kSetsockopt, ENOPROTOOPT},
                        {"getsockname", Symbol::kGetsockname, ENOBUFS},
                        {"eventfd", Symbol::kEventfd, EMFILE},
                        {"pthread_create", Symbol::kPthreadCreate, EAGAIN}};
  std::uint16_t port = 0;
  {
    auto scheduler = start_with_extra(0, GetParam());
    port = scheduler.addresses().front().port();
  }
  for (const Step& step : steps) {
    int failed = 0;
    for (int nth = 1;; ++nth) {
      const faults::Scope scope;
      const Ledger ledger;
      faults::fail(step.symbol, nth, step.error);
      LineScheduler scheduler;
      try {
        scheduler = start_with_extra(port, GetParam());
      } catch (const NetworkError& error) {
        EXPECT_EQ(error.code().value(), step.error) << step.name << " " << nth;
        EXPECT_FALSE(error.operation().empty());
      }
      if (faults::injected(step.symbol) == 0) {
        EXPECT_TRUE(scheduler.is_running()) << "no fault, no failure";
        break;
      }
      ++failed;
      EXPECT_FALSE(scheduler.is_running()) << step.name << " " << nth;
      EXPECT_TRUE(scheduler.drain(10).empty());
      scheduler.shutdown();
      EXPECT_TRUE(ledger.is_as_before()) << step.name << " " << nth;
      faults::reset();
      auto again = start_with_extra(port, GetParam());
      EXPECT_EQ(LineClient(again.addresses().front()).ask("x"), "x") << "the same port, at once";
    }
    // Each worker's own listener, waker and thread is one call at least.
    EXPECT_GE(failed, step.symbol == Symbol::kGetsockname ? 2 : kWorkers) << step.name;
  }
}

// One worker finds no descriptor for its poller.
class WithoutPoller : public LineFrontend {
 public:
  explicit WithoutPoller(int worker)
      : LineFrontend([](const std::string& line, int) { return line; }), worker_(worker) {}
  void run_worker(WorkerContext& context) {
    if (context.id() == worker_) faults::fail_on_this_thread(Symbol::kEpollCreate1, EMFILE);
    LineFrontend::run_worker(context);
  }

 private:
  int worker_;
};

// The poller is opened by the worker itself: a failure there is that worker's crash, not the start's.
// proves: C-CRASH-01, C-CRASH-03, INV-22
TEST_P(SchedulerStartFaults, AWorkerThatCannotOpenItsPollerIsACrashAndTheOthersServe) {
  for (int worker = 0; worker < kWorkers; ++worker) {
    const faults::Scope scope;
    const Ledger ledger;
    {
      const Lines lines;
      auto scheduler = start_any(WithoutPoller(worker), kWorkers, with(GetParam(), &lines));
      ASSERT_TRUE(wait_until([&] { return scheduler.crashed_worker_count() == 1; }));
      ASSERT_TRUE(ledger.await_threads_more(kWorkers - 1));
      EXPECT_TRUE(scheduler.is_running());
      std::string text;
      for (const WorkerSnapshot& one : scheduler.stats()) text += one.error;
      EXPECT_NE(text.find("opening a poller: Too many open files"), std::string::npos) << text;
      for (int i = 0; i < 30; ++i) EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
      const auto reports = scheduler.drain(5000);
      expect_sound(reports);
      EXPECT_EQ(total(reports).crashed, 1);
    }
    EXPECT_TRUE(ledger.is_as_before());
  }
}

// The second poller of a worker is a spare one (Reactor::forget): it serves without it.
// proves: C-REACTOR-13
TEST_P(SchedulerStartFaults, AWorkerWithoutASparePollerServes) {
  const faults::Scope scope;
  faults::fail(Symbol::kEpollCreate1, 2, EMFILE, faults::kForEver);
  auto scheduler = start_any(echo(), 1, with(GetParam()));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
  EXPECT_EQ(scheduler.crashed_worker_count(), 0);
  expect_sound(scheduler.drain(5000));
  EXPECT_GE(faults::calls(Symbol::kEpollCreate1), 2);
}

// A frontend whose copy throws at the nth copy.
class CopyThrows : public LineFrontend {
 public:
  explicit CopyThrows(int nth)
      : LineFrontend([](const std::string& line, int) { return line; }), left_(std::make_shared<int>(nth)) {}
  CopyThrows(const CopyThrows& other) : LineFrontend(other), left_(other.left_) {
    if (--*left_ == 0) throw std::runtime_error("this frontend cannot be copied again");
  }
  CopyThrows(CopyThrows&&) = default;

 private:
  std::shared_ptr<int> left_;
};

// proves: C-START-02, INV-12
TEST_P(SchedulerStartFaults, AFrontendWhoseCopyThrowsStartsNothing) {
  int threw = 0;
  for (int nth = 1; nth <= kWorkers; ++nth) {
    const Ledger ledger;
    try {
      start_any(CopyThrows(nth), kWorkers, with(GetParam())).shutdown();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "this frontend cannot be copied again");
      ++threw;
    }
    EXPECT_TRUE(ledger.is_as_before()) << nth;
  }
  EXPECT_EQ(threw, kWorkers) << "one copy for each worker";
}

// proves: C-START-02, C-STOP-01, INV-12, INV-13
TEST_P(SchedulerStartFaults, ThreadsThatHadStartedAreStoppedAlsoWhenTheyHadClients) {
  const faults::Scope scope;
  const Ledger ledger;
  faults::fail(Symbol::kPthreadCreate, kWorkers, EAGAIN);
  try {
    start_any(echo(), kWorkers, with(GetParam()));
    ADD_FAILURE() << "it started without its last thread";
  } catch (const NetworkError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("thread of worker 2"), std::string::npos) << text;
    EXPECT_EQ(error.code().value(), EAGAIN);
  }
  EXPECT_TRUE(ledger.is_as_before());
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerStartFaults,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
