// What nobody should notice of a stop or of a server at work: needless wakes, descriptors that an exec inherits, ends
// of frontends on other threads.
#include <fcntl.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

class SchedulerQuiet : public ::testing::TestWithParam<ListenerStrategy> {};

// A drain without a near deadline waits for the rest of one request: its worker sleeps as it did before the stop.
// field-bugs B09
// proves: C-DRAIN-01
TEST_P(SchedulerQuiet, ADrainThatWaitsForOneRequestSleeps) {
  SchedulerOptions options = with(GetParam());
  options.serving.poll_cap = std::chrono::milliseconds(-1);
  auto scheduler = start_any(echo(), 2, options);
  const SocketAddress address = scheduler.addresses().front();
  LineClient half(address);
  ASSERT_TRUE(half.send("ha"));
  ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));
  std::vector<ShutdownReport> reports;
  std::thread drainer([&] { reports = scheduler.drain(600'000); });
  const auto refused = [&] { return LineClient(address).connect_error() == ECONNREFUSED; };
  EXPECT_TRUE(wait_until([&] { return refused() && live(scheduler.stats()) == 1; }));
  const auto ticks = [&] {
    std::uint64_t sum = 0;
    for (const WorkerSnapshot& one : scheduler.stats()) sum += one.ticks;
    return sum;
  };
  const std::uint64_t before = ticks();
  EXPECT_FALSE(wait_until([&] { return ticks() > before + 20; }, limits::kPollCap));
  EXPECT_TRUE(half.send("lf\n"));
  EXPECT_EQ(half.line(), "half");
  drainer.join();
  expect_sound(reports);
}

// The flags of a descriptor as the kernel shows them: fcntl would be a use of what is another thread's.
int flags_of(const std::string& number) {
  std::ifstream info("/proc/self/fdinfo/" + number);
  for (std::string name, value; info >> name >> value;) {
    if (name == "flags:") return std::stoi(value, nullptr, 8);
  }
  return 0;
}

// Listeners, pollers, wake descriptors, accepted sockets, and those of them that were handed over.
// field-bugs C15
// proves: C-NET-04
TEST_P(SchedulerQuiet, EveryDescriptorOfABusyServerIsClosedOnExecAndEverySocketNonBlocking) {
  const auto before = folder_entries("/proc/self/fd");
  SchedulerOptions options = with(GetParam());
  options.policy = HandoffPolicy(true, 64, 1);
  auto scheduler = start_any(echo(), 4, options);
  ASSERT_TRUE(all_workers_run(scheduler));
  std::vector<LineClient> clients;
  std::set<std::string> own;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back(scheduler.addresses().front());
    ASSERT_EQ(clients.back().ask("x"), "x");
    own.insert(std::to_string(clients.back().fd()));
  }
  int sockets = 0;
  for (const auto& [number, target] : folder_entries("/proc/self/fd")) {
    if (before.contains(number) || own.contains(number)) continue;
    const int flags = flags_of(number);
    EXPECT_NE(flags & O_CLOEXEC, 0) << target;
    if (!target.starts_with("socket:")) continue;
    ++sockets;
    EXPECT_NE(flags & O_NONBLOCK, 0) << target;
  }
  EXPECT_GE(sockets, 17) << "not all of them were looked at";
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerQuiet,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

// What the workers' own copies of a frontend did and saw, each by its worker's number.
struct Ends {
  std::atomic<int> connections[2]{};
  std::atomic<int> on_own_thread[2]{};
  std::atomic<int> elsewhere{0};
  std::atomic<int> too_early{0};
};

class TracedConnection : public LineConnection {
 public:
  TracedConnection(const LineHandler& handler, WorkerStats& stats, std::atomic<int>& count)
      : LineConnection(handler, stats), count_(count) {
    ++count_;
  }
  ~TracedConnection() override { --count_; }

 private:
  std::atomic<int>& count_;
};

class TracedFrontend {
 public:
  explicit TracedFrontend(std::shared_ptr<Ends> ends) : ends_(std::move(ends)) {}
  TracedFrontend(const TracedFrontend& other) : ends_(other.ends_) {}
  TracedFrontend& operator=(const TracedFrontend&) = delete;
  ~TracedFrontend() {
    if (worker_ < 0) return;  // a copy that never ran
    const auto index = static_cast<std::size_t>(worker_);
    ++(std::this_thread::get_id() == thread_ ? ends_->on_own_thread[index] : ends_->elsewhere);
    ends_->too_early += ends_->connections[index].load();
  }
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    worker_ = context.id();
    thread_ = std::this_thread::get_id();
    Traced protocol(ends_->connections[worker_], context.stats());
    context.serve(protocol);
  }

 private:
  struct Traced : Protocol {
    Traced(std::atomic<int>& held, WorkerStats& shown) : count(held), stats(shown) {}
    std::unique_ptr<Connection> open() override { return std::make_unique<TracedConnection>(handler, stats, count); }
    std::atomic<int>& count;
    WorkerStats& stats;
    LineHandler handler = [](const std::string& line, int) { return line; };
  };
  std::shared_ptr<Ends> ends_;
  int worker_ = -1;
  std::thread::id thread_;
};

// field-bugs E05
// proves: INV-13
TEST(SchedulerEnd, AFrontendsCopyEndsOnItsOwnWorkerAfterItsConnections) {
  for (const int timeout : {-1, 0, 1, 2000}) {
    const auto ends = std::make_shared<Ends>();
    auto scheduler = start_any(TracedFrontend(ends), 2, with(ListenerStrategy::kPerWorker));
    std::vector<LineClient> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back(scheduler.addresses().front());
      ASSERT_EQ(clients.back().ask("x"), "x");
    }
    EXPECT_EQ(ends->connections[0] + ends->connections[1], 8);
    if (timeout < 0) scheduler.shutdown();
    if (timeout >= 0) scheduler.drain(timeout);
    // A drain of 1 ms may leave a late worker behind, which ends by itself.
    EXPECT_TRUE(wait_until([&] { return ends->on_own_thread[0] + ends->on_own_thread[1] == 2; }));
    EXPECT_EQ(ends->on_own_thread[0], 1);
    EXPECT_EQ(ends->elsewhere, 0);
    EXPECT_EQ(ends->too_early, 0);
    EXPECT_EQ(ends->connections[0] + ends->connections[1], 0);
  }
}

}  // namespace
}  // namespace flare::testing
