// The end of a drain's accept phase, and the listeners after it.
#include <sys/socket.h>

#include <cerrno>
#include <set>
#include <thread>

#include "flare/kernel/system_kernel.h"
#include "harness.h"

namespace flare::testing {
namespace {

class SchedulerDrainAccept : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-DRAIN-03
TEST_P(SchedulerDrainAccept, LaterClientsAreRefusedWhileTheDrainStillWaits) {
  auto scheduler = start_any(echo(), 2, with(GetParam()));
  LineClient half(scheduler.addresses().front());
  EXPECT_TRUE(half.send("never finish"));
  ASSERT_TRUE(wait_until([&] { return live(scheduler.stats()) == 1; }));
  std::thread drainer([&] { scheduler.drain(600000); });
  // Fewer tries than the backlog takes: a client beyond it would wait for its own connect.
  bool refused = false;
  for (int i = 0; i < 800 && !refused; ++i) {
    refused = LineClient(scheduler.addresses().front()).connect_error() == ECONNREFUSED;
    static_cast<void>(wait_until([] { return false; }, std::chrono::milliseconds(10)));
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(scheduler.is_running());
  scheduler.shutdown();
  drainer.join();
}

// The worker sees draining and enters a handler, out of which it comes after twice the grace: whoever connected
// meanwhile is accepted by the last pass or by nobody.
// proves: C-DRAIN-03
TEST_P(SchedulerDrainAccept, WhoStandsInTheBacklogAtTheEndOfTheAcceptPhaseIsServed) {
  const auto before = std::make_shared<Gate>();
  const auto during = std::make_shared<Gate>();
  const LineFrontend frontend([before, during](const std::string& line, int) {
    if (line == "before") before->pass();
    if (line == "during") during->pass();
    return line;
  });
  auto scheduler = start_any(frontend, 1, with(GetParam()));
  const OpenAtExit open_before(before);
  const OpenAtExit open_during(during);
  const SocketAddress address = scheduler.addresses().front();
  LineClient second(address);
  EXPECT_EQ(second.ask("x"), "x");
  LineClient first(address);
  EXPECT_TRUE(first.send("before\n"));
  ASSERT_TRUE(wait_until([&] { return before->was_entered(); }));
  EXPECT_TRUE(second.send("during\n"));
  std::vector<ShutdownReport> reports;
  std::thread drainer([&] { reports = scheduler.drain(600000); });
  scheduler.wait();  // until it has begun
  before->open();
  EXPECT_TRUE(wait_until([&] { return during->was_entered(); }));
  std::vector<LineClient> backlog;
  for (int i = 0; i < 5; ++i) {
    backlog.emplace_back(address);
    EXPECT_TRUE(backlog.back().send("y\n"));
  }
  const MonoTime over = SystemKernel::now() + 2 * limits::kMaxGrace;
  EXPECT_TRUE(wait_until([&] { return SystemKernel::now() > over; }));
  during->open();
  for (LineClient& client : backlog) {
    EXPECT_EQ(client.line(), "y");
    EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  }
  drainer.join();
  expect_sound(reports);
  EXPECT_EQ(total(reports).accepted, 7);
  EXPECT_EQ(total(reports).cut, 0);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerDrainAccept,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

// The listening sockets of this process on a port, each by its inode.
std::set<std::string> listening_on(std::uint16_t port) {
  std::set<std::string> found;
  for (const auto& [number, target] : folder_entries("/proc/self/fd")) {
    if (target.compare(0, 7, "socket:") != 0) continue;
    int accepts = 0;
    socklen_t size = sizeof accepts;
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    const int fd = std::stoi(number);
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) != 0 || accepts == 0) continue;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) continue;
    if (storage.ss_family == AF_INET && SocketAddress::from_sockaddr(storage).port() == port) found.insert(target);
  }
  return found;
}

class SchedulerListeners : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-STOP-07
TEST_P(SchedulerListeners, OfJoinedWorkersAreClosedThoughOneIsStuck) {
  const Ledger ledger;
  const auto gate = std::make_shared<Gate>();
  {
    auto scheduler = start_any(blocking(gate), 4, with(GetParam()));
    const OpenAtExit open(gate);
    const auto listeners = listening_on(scheduler.addresses().front().port());
    EXPECT_EQ(listeners.size(), GetParam() == ListenerStrategy::kShared ? 1U : 4U);
    LineClient client(scheduler.addresses().front());
    EXPECT_TRUE(client.send("block\n"));
    ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
    // Well before its deadline the others are gone.
    const auto reports = scheduler.drain(1000);
    ASSERT_EQ(total(reports).stuck, 1);
    std::size_t open_ones = 0;
    for (const auto& [number, target] : folder_entries("/proc/self/fd")) open_ones += listeners.count(target);
    EXPECT_EQ(open_ones, 1U) << "only what the stuck worker may still name";
  }
  EXPECT_TRUE(ledger.is_as_before());
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerListeners,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
