// Many starts and stops: nothing is left behind, and no number of a listener is used after it was given up.
#include <netinet/in.h>

#include <cstdio>
#include <thread>

#include "harness.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

#if defined(__has_feature)
#define FLARE_HAS_FEATURE(x) __has_feature(x)
#else
#define FLARE_HAS_FEATURE(x) 0
#endif

// A sanitizer makes a cycle with four threads about ten times slower; what it looks for shows in the first ones.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || FLARE_HAS_FEATURE(address_sanitizer) || \
    FLARE_HAS_FEATURE(thread_sanitizer)
constexpr int kParts = 3, kCycles = 40;
#else
constexpr int kParts = 5, kCycles = 200;
#endif

// Seven clients of four workers, one of them asked; then a stop of the kind that this cycle has.
ShutdownReport start_and_stop(int cycle) {
  SchedulerOptions options = with(cycle % 2 == 0 ? ListenerStrategy::kPerWorker : ListenerStrategy::kShared);
  options.policy = HandoffPolicy(true, 64, 1);
  auto scheduler = start_any(echo(), 4, options);
  const SocketAddress address = scheduler.addresses().front();
  LineClient keep_alive(address);
  EXPECT_EQ(keep_alive.ask("x"), "x");
  // More than one for each worker: some move, and the stop comes while they do.
  std::vector<LineClient> handed;
  for (int i = 0; i < 6; ++i) handed.emplace_back(address);
  std::vector<ShutdownReport> reports;
  if (cycle % 40 < 2) {
    reports = scheduler.drain(1000);
  } else if (cycle % 8 < 3) {
    reports = scheduler.drain(0);
  } else if (cycle % 8 < 6) {
    reports = scheduler.drain(1);
  } else {
    scheduler.shutdown();
  }
  EXPECT_TRUE(adds_up(reports)) << "cycle " << cycle;
  EXPECT_NE(keep_alive.await_end(), StreamEnd::kOpen) << "cycle " << cycle;
  for (LineClient& client : handed) EXPECT_NE(client.await_end(), StreamEnd::kOpen) << "cycle " << cycle;
  return total(reports);
}

class SchedulerCycles : public ::testing::TestWithParam<int> {};  // the kinds of stops repeat after 40 cycles

// proves: C-SERVE-04, C-STOP-01, INV-04, INV-07, INV-12, INV-13
TEST_P(SchedulerCycles, StartsAndStopsLeaveNoDescriptorAndNoThread) {
  const int first = GetParam() * kCycles;
  std::printf("%d cycles\n", kCycles);
  RecordProperty("cycles", kCycles);
  const Ledger ledger;
  ShutdownReport sum;
  for (int cycle = first; cycle < first + kCycles; ++cycle) {
    sum = total({sum, start_and_stop(cycle)});
    if (cycle % 50 == 0 || cycle == first + kCycles - 1) {
      ASSERT_TRUE(ledger.is_as_before()) << "cycle " << cycle;
    }
    ASSERT_FALSE(HasFailure());
  }
  // Of the drains of 1 ms a busy machine makes some workers late, and late is stuck: they end by themselves.
  RecordProperty("stuck", static_cast<int>(sum.stuck));
  EXPECT_GT(sum.handed_out, 0) << "else the handoff was not there at any stop";
  EXPECT_GT(sum.cut, 0);
  EXPECT_GT(sum.drained, 0);
}

INSTANTIATE_TEST_SUITE_P(Part, SchedulerCycles, ::testing::Range(0, kParts));

// A listener that is nobody's business: whoever accepts its client has used a number that is not his.
struct Bystander {
  UniqueFd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  UniqueFd client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  // True: the client was still there for its own listener to accept.
  bool client_is_left_alone(int spins) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(listener.get(), 8) != 0 ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
        ::connect(client.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      return true;  // no listener, no question
    }
    const linger now{1, 0};  // no port is left in TIME_WAIT
    ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    for (int i = 0; i < spins; ++i) std::this_thread::yield();  // each may cost a slice of all that spin
    const UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return accepted.valid();
  }
};

class SchedulerNumbers : public ::testing::TestWithParam<ListenerStrategy> {};

// proves: C-ACCEPT-07, C-STOP-07, INV-11
TEST_P(SchedulerNumbers, NobodyAcceptsOnASocketThatTookAListenersNumber) {
  std::atomic<int> stolen{0};
  std::atomic<int> opened{0};
  std::atomic<std::uint16_t> port{0};
  constexpr int cycles = 60;
  {
    const std::jthread bystander([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        Bystander one;
        if (!one.client_is_left_alone(opened % 5)) ++stolen;
        ++opened;
      }
    });
    const std::jthread traffic([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (port == 0) {
          std::this_thread::yield();
          continue;
        }
        LineClient client(own_loopback(port));
        client.send("x\n");
        client.reset();  // no port is left in TIME_WAIT
      }
    });
    for (int cycle = 0; cycle < cycles; ++cycle) {
      auto scheduler = start_any(echo(), 4, with(GetParam()));
      port = scheduler.addresses().front().port();
      const int before = opened;
      wait_until([&] { return opened > before + 2; });
      if (cycle % 3 == 0) {
        scheduler.shutdown();
      } else {
        expect_sound(scheduler.drain(cycle % 3 == 1 ? 4 : 40));
      }
    }
  }
  EXPECT_EQ(stolen, 0);
  EXPECT_GT(opened, cycles);
  std::printf("%d bystanders in %d stops\n", opened.load(), cycles);
}

INSTANTIATE_TEST_SUITE_P(Strategy, SchedulerNumbers,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
