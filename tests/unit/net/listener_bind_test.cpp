// The two ways to bind: ports, busy ports, failures half-way.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>

#include <cerrno>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "flare/base/network_error.h"
#include "flare/net/listener.h"
#include "support/fault_injection.h"
#include "support/loopback.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

using faults::Symbol;

enum class Strategy { kShared, kReusePort };

std::vector<Shared<Listener>> bind_with(Strategy strategy, const SocketAddress& address, bool share_port = false) {
  ListenerOptions options;
  options.share_port = share_port;
  if (strategy == Strategy::kShared) return {bind_shared(address, options)};
  return bind_reuseport(address, 3, options);
}

class Bind : public ::testing::TestWithParam<Strategy> {
 protected:
  static std::string error_of(Strategy strategy, const SocketAddress& address, int& code) {
    try {
      bind_with(strategy, address);
    } catch (const NetworkError& error) {
      code = error.code().value();
      return error.what();
    }
    code = 0;
    return "";
  }
};

INSTANTIATE_TEST_SUITE_P(Strategies, Bind, ::testing::Values(Strategy::kShared, Strategy::kReusePort),
                         [](const auto& name) { return name.param == Strategy::kShared ? "Shared" : "ReusePort"; });

// Mutant S10
// proves: C-NET-02
TEST(BindReusePort, PortZeroIsResolvedOnceForTheWholeGroup) {
  const auto group = bind_reuseport(SocketAddress::parse("[::1]:0"), 4, ListenerOptions());
  ASSERT_EQ(4U, group.size());
  std::set<int> numbers;
  for (const auto& listener : group) {
    EXPECT_NE(0, listener->address().port());
    EXPECT_EQ(group[0]->address(), listener->address());
    EXPECT_FALSE(listener->shared());
    numbers.insert(listener->fd());
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    ASSERT_EQ(0, ::getsockname(listener->fd(), reinterpret_cast<sockaddr*>(&storage), &size));
    EXPECT_EQ(listener->address(), SocketAddress::from_sockaddr(storage));
  }
  EXPECT_EQ(4U, numbers.size());
}

// Each member really takes part: with 200 clients, each of 3 has some, and none is lost.
TEST(BindReusePort, ClientsReachEveryMember) {
  const auto group = bind_reuseport(own_loopback(), 3, ListenerOptions());
  std::vector<UniqueFd> clients;
  std::vector<UniqueFd> served;
  std::vector<int> counts(3, 0);
  for (int i = 0; i < 200; ++i) clients.push_back(connect_to(group[0]->address()).first);
  EXPECT_TRUE(wait_until([&] {
    for (std::size_t i = 0; i < 3; ++i) {
      for (auto got = group[i]->accept(); got.ok(); got = group[i]->accept()) {
        served.emplace_back(got.value());
        ++counts[i];
      }
    }
    return served.size() == 200;
  }));
  for (const int count : counts) EXPECT_GT(count, 0);
}

// proves: C-NET-03
TEST_P(Bind, ABusyPortFailsWhoeverHasIt) {
  for (const Strategy holder : {Strategy::kShared, Strategy::kReusePort}) {
    for (const bool holder_shares : {false, true}) {
      const auto busy = bind_with(holder, own_loopback(), holder_shares);
      const int before = open_descriptors();
      int code = 0;
      const std::string what = error_of(GetParam(), busy[0]->address(), code);
      EXPECT_EQ(EADDRINUSE, code);
      EXPECT_NE(std::string::npos, what.find(busy[0]->address().to_string())) << what;
      EXPECT_EQ(before, open_descriptors());
    }
  }
}

// proves: C-NET-03
TEST_P(Bind, APortIsSharedOnlyWhenBothAskForIt) {
  const auto first = bind_with(GetParam(), own_loopback(), true);
  const auto second = bind_with(GetParam(), first[0]->address(), true);
  EXPECT_EQ(first[0]->address(), second[0]->address());
  const auto alone = bind_with(Strategy::kShared, own_loopback());
  EXPECT_THROW(bind_with(GetParam(), alone[0]->address(), true), NetworkError);
}

// A stuck worker of an old server holds its listener's number, disabled, while a new server takes the port.
// proves: C-NET-03
TEST_P(Bind, ADisabledListenerThatIsStillOpenFreesThePort) {
  for (const Strategy old_strategy : {Strategy::kShared, Strategy::kReusePort}) {
    const auto old = bind_with(old_strategy, own_loopback());
    const SocketAddress address = old[0]->address();
    for (const auto& listener : old) listener->disable();
    const auto fresh = bind_with(GetParam(), address);
    EXPECT_EQ(address, fresh[0]->address());
    EXPECT_EQ(0, connect_to(address).second);
  }
}

// proves: C-NET-03
TEST_P(Bind, APortIsFreeRightAfterTheServerIsGone) {
  auto server = bind_with(GetParam(), own_loopback());
  const SocketAddress address = server[0]->address();
  UniqueFd client = connect_to(address).first;
  Result<int> accepted = Result<int>::failure(EAGAIN);
  EXPECT_TRUE(wait_until([&] {
    for (const auto& listener : server) {
      if (!accepted.ok()) accepted = listener->accept();
    }
    return accepted.ok();
  }));
  // The server closes first: its end goes to TIME_WAIT, which must not hold the port.
  close_fd(accepted.value());
  server.clear();
  client.reset();
  EXPECT_EQ(address, bind_with(GetParam(), address)[0]->address());
}

// field-bugs C18: the kth call of each kind fails.
// proves: INV-12
TEST_P(Bind, AFailureAtAnyStepLeavesNothingOpen) {
  for (const Symbol symbol :
       {Symbol::kSocket, Symbol::kBind, Symbol::kListen, Symbol::kSetsockopt, Symbol::kGetsockname}) {
    faults::Scope scope;
    const int before = open_descriptors();
    bind_with(GetParam(), SocketAddress::parse("[::1]:0"));
    const long steps = faults::calls(symbol);
    ASSERT_GT(steps, 0);
    for (long step = 1; step <= steps; ++step) {
      faults::fail(symbol, step, ENOBUFS);
      int code = 0;
      const std::string what = error_of(GetParam(), SocketAddress::parse("[::1]:0"), code);
      EXPECT_EQ(ENOBUFS, code) << "step " << step;
      EXPECT_NE(std::string::npos, what.find("[::1]:")) << what;
      EXPECT_EQ(before, open_descriptors()) << "step " << step;
      faults::reset();
    }
  }
}

TEST(BindOptions, BadNumbersAreNamed) {
  ListenerOptions options;
  options.backlog = 0;
  EXPECT_THROW(bind_shared(own_loopback(), options), NetworkError);
  EXPECT_THROW(bind_reuseport(own_loopback(), 1, options), NetworkError);
  options = ListenerOptions();
  options.defer_accept_s = -1;
  EXPECT_THROW(bind_shared(own_loopback(), options), NetworkError);
  try {
    bind_reuseport(own_loopback(), 0, ListenerOptions());
    FAIL();
  } catch (const NetworkError& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("count 0, expected 1 or more"));
  }
}

}  // namespace
}  // namespace flare::testing
