// Where a scheduler listens: port 0, extra addresses, IPv4 and IPv6, busy ports.
#include <netinet/in.h>

#include <cerrno>
#include <set>

#include "flare/base/network_error.h"
#include "harness.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

// The listening sockets of this process on a port.
int listening_on(std::uint16_t port) {
  int count = 0;
  for (const auto& [number, target] : folder_entries("/proc/self/fd")) {
    if (target.compare(0, 7, "socket:") != 0) continue;
    const int fd = std::stoi(number);
    int accepts = 0;
    socklen_t size = sizeof accepts;
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) != 0 || accepts == 0) continue;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) continue;
    if (storage.ss_family != AF_INET && storage.ss_family != AF_INET6) continue;
    count += SocketAddress::from_sockaddr(storage).port() == port ? 1 : 0;
  }
  return count;
}

// Connects until each worker has answered there: the kernel spreads new connections over the listeners of a port.
bool every_worker_answers(const SocketAddress& address, int workers) {
  std::set<std::string> seen;
  for (int i = 0; i < 2000 && static_cast<int>(seen.size()) < workers; ++i) {
    LineClient client(address);
    const auto answer = client.ask("who");
    if (!answer) return false;
    seen.insert(*answer);
  }
  return static_cast<int>(seen.size()) == workers;
}

bool has_ipv6() {
  const UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress loopback = SocketAddress::parse("[::1]:0");
  return fd.valid() && ::bind(fd.get(), loopback.data(), loopback.length()) == 0;
}

class SchedulerAddresses : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-NET-02
TEST_P(SchedulerAddresses, PortZeroIsResolvedOnceForAllWorkers) {
  auto scheduler = start_any(echo(), 3, with(GetParam()));
  ASSERT_EQ(scheduler.addresses().size(), 1U);
  const std::uint16_t port = scheduler.addresses().front().port();
  ASSERT_NE(port, 0);
  EXPECT_EQ(listening_on(port), GetParam() == ListenerStrategy::kShared ? 1 : 3);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("x"), "x");
}

// proves: C-START-04
TEST_P(SchedulerAddresses, EachExtraAddressGetsOneListenerPerWorkerAndEachServes) {
  constexpr int kWorkers = 3;
  const SocketAddress any = own_loopback();
  auto scheduler = LineScheduler::start(any, tell_worker(), kWorkers, true, {any, any}, with(GetParam()));
  const std::vector<SocketAddress> addresses = scheduler.addresses();
  ASSERT_EQ(addresses.size(), 3U);
  EXPECT_EQ(listening_on(addresses[0].port()), GetParam() == ListenerStrategy::kShared ? 1 : kWorkers);
  EXPECT_EQ(listening_on(addresses[1].port()), kWorkers);
  EXPECT_EQ(listening_on(addresses[2].port()), kWorkers);
  EXPECT_TRUE(every_worker_answers(addresses[1], kWorkers));
  EXPECT_TRUE(every_worker_answers(addresses[2], kWorkers));
  EXPECT_EQ(LineClient(addresses[0]).ask("who").value_or("").size(), 1U);
  const auto reports = scheduler.drain(5000);
  expect_sound(reports);
  for (const SocketAddress& address : addresses) EXPECT_EQ(LineClient(address).connect_error(), ECONNREFUSED);
}

// proves: C-NET-01
TEST_P(SchedulerAddresses, ServesIPv6AndIPv4Together) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no ::1";
  const SocketAddress six = SocketAddress::parse("[::1]:0");
  auto scheduler = LineScheduler::start(six, echo(), 2, true, {own_loopback()}, with(GetParam()));
  ASSERT_EQ(scheduler.addresses().size(), 2U);
  EXPECT_EQ(scheduler.addresses()[0].family(), AF_INET6);
  for (int i = 0; i < 8; ++i) {
    for (const SocketAddress& address : scheduler.addresses()) EXPECT_EQ(LineClient(address).ask("x"), "x");
  }
  expect_sound(scheduler.drain(5000));
}

// proves: C-NET-04
TEST_P(SchedulerAddresses, AnIPv6ListenerServesIPv4OnlyWithDualStack) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no ::1";
  for (const bool dual : {false, true}) {
    SchedulerOptions options = with(GetParam());
    options.listener.dual_stack = dual;
    auto scheduler = start_on(SocketAddress::parse("[::]:0"), echo(), 2, options);
    const std::uint16_t port = scheduler.addresses().front().port();
    LineClient four(own_loopback(port));
    EXPECT_EQ(four.connected(), dual);
    if (dual) {
      EXPECT_EQ(four.ask("x"), "x");
    }
    EXPECT_EQ(LineClient(SocketAddress::parse("[::1]:0").with_port(port)).ask("x"), "x");
  }
}

// proves: C-NET-03, C-START-02, INV-12
TEST_P(SchedulerAddresses, ABusyPortIsRefusedAndNamedAlsoAsAnExtraAddress) {
  for (const auto first : {ListenerStrategy::kShared, ListenerStrategy::kPerWorker}) {
    auto server = start_any(echo(), 2, with(first));
    const SocketAddress busy = server.addresses().front();
    ASSERT_TRUE(all_workers_run(server));
    const Ledger ledger;
    for (const bool extra : {false, true}) {
      try {
        const SocketAddress main = extra ? own_loopback() : busy;
        const std::vector<SocketAddress> others = extra ? std::vector{busy} : std::vector<SocketAddress>{};
        LineScheduler::start(main, echo(), 2, true, others, with(GetParam()));
        ADD_FAILURE() << "two servers share " << busy.to_string();
      } catch (const NetworkError& error) {
        EXPECT_EQ(error.code().value(), EADDRINUSE);
        EXPECT_NE(std::string(error.what()).find(busy.to_string()), std::string::npos) << error.what();
      }
      EXPECT_TRUE(ledger.is_as_before());
    }
    EXPECT_EQ(LineClient(busy).ask("x"), "x") << "the first server is not harmed";
  }
}

// proves: C-NET-03
TEST_P(SchedulerAddresses, OneAddressTwiceIsBusy) {
  const Ledger ledger;
  std::uint16_t port = 0;
  {
    auto first = start_any(echo(), 1, with(GetParam()));
    port = first.addresses().front().port();
  }
  const SocketAddress address = own_loopback(port);
  EXPECT_THROW(LineScheduler::start(address, echo(), 2, true, {address}, with(GetParam())), NetworkError);
  EXPECT_TRUE(ledger.is_as_before());
}

// proves: C-NET-03
TEST_P(SchedulerAddresses, AStoppedServerLeavesItsPortFreeAtOnce) {
  std::uint16_t port = 0;
  for (int round = 0; round < 20; ++round) {
    auto scheduler = start_on(own_loopback(port), echo(), 2, with(GetParam()));
    port = scheduler.addresses().front().port();
    LineClient client(scheduler.addresses().front());
    EXPECT_EQ(client.ask("x"), "x");
    scheduler.shutdown();  // the server closes first: the old connection stays in TIME_WAIT
    EXPECT_FALSE(client.ask("y"));
  }
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerAddresses,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
