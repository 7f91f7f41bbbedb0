// The twins of tests/sim/scenarios/lifecycle*.cpp on real threads and sockets: the calls of the system that each makes.
// The same server, the same acts of the clients, and all calls count, the clients' too, as they do there.
#include <algorithm>
#include <cstdio>
#include <string>

#include "harness.h"
#include "support/fault_injection.h"
#include "support/number_from.h"
#include "support/production_calls.h"

namespace flare::testing {
namespace {

using std::chrono::milliseconds;

LineScheduler start(ListenerStrategy strategy, LineFrontend frontend = echo(), int cap = 0) {
  SchedulerOptions options = with(strategy);
  options.policy = HandoffPolicy(cap == 0, 4, 1);
  options.serving.poll_cap = milliseconds(-1);
  options.serving.max_connections = cap;
  options.serving.accept_budget = 4;
  return LineScheduler::start(own_loopback(), std::move(frontend), 2, false, {}, std::move(options));
}

LineClient asking(const LineScheduler& server, const char* line = "x\n") {
  LineClient client(server.addresses().front());
  EXPECT_TRUE(client.connected() && client.send(line));
  return client;
}

std::uint64_t sum_of(const LineScheduler& server, std::uint64_t WorkerSnapshot::* counter) {
  std::uint64_t sum = 0;
  for (const WorkerSnapshot& one : server.stats()) sum += one.*counter;
  return sum;
}

// Each is one run; false: it did not come to what the scenario is about, and does not count.
bool shutdown_with_clients(ListenerStrategy strategy) {
  LineScheduler server = start(strategy);
  LineClient first = asking(server);
  LineClient second = asking(server);
  server.shutdown();
  return first.await_end() != StreamEnd::kOpen && second.await_end() != StreamEnd::kOpen;
}

bool stop_before_first_poll(ListenerStrategy strategy) {
  LineScheduler server = start(strategy);
  server.shutdown();
  return true;
}

bool drain_with_time(ListenerStrategy strategy) {
  LineScheduler server = start(strategy);
  LineClient first = asking(server);
  LineClient second = asking(server);
  expect_sound(server.drain(1000));
  return first.line() == "x" && second.line() == "x" && first.await_end() == StreamEnd::kEof &&
         second.await_end() == StreamEnd::kEof;
}

bool drain_without_time(ListenerStrategy strategy) {
  LineScheduler server = start(strategy);
  LineClient first = asking(server);
  LineClient second = asking(server);
  expect_sound(server.drain(0));
  return first.await_end() != StreamEnd::kOpen && second.await_end() != StreamEnd::kOpen;
}

bool drain_with_stuck_handler(ListenerStrategy strategy) {
  const auto gate = std::make_shared<Gate>();
  const OpenAtExit opens(gate);
  const std::size_t threads = Ledger::threads();
  LineScheduler server = start(strategy, blocking(gate));
  LineClient stuck = asking(server, "block\n");
  if (!wait_until([&] { return gate->was_entered(); })) return false;
  const bool was_stuck = total(server.drain(200)).stuck == 1;
  gate->open();
  // What the detached worker still does belongs to this run.
  return was_stuck && wait_until([threads] { return Ledger::threads() <= threads; });
}

bool handed_over_and_served(ListenerStrategy strategy) {
  LineScheduler server = start(strategy);
  LineClient first = asking(server);
  LineClient second = asking(server);
  if (first.line() != "x" || second.line() != "x") return false;
  const bool handed = sum_of(server, &WorkerSnapshot::handed_out) > 0;
  server.shutdown();
  return handed;
}

bool waits_for_a_place(ListenerStrategy strategy) {
  const bool shared = strategy == ListenerStrategy::kShared;
  const std::uint64_t places = shared ? 2 : 1;
  LineScheduler server = start(strategy, echo(), 1);
  std::vector<LineClient> clients;
  for (std::uint64_t i = 0; i <= places; ++i) clients.push_back(asking(server));
  for (std::uint64_t i = 0; i < places; ++i) {
    if (clients[i].line() != "x") return false;
  }
  // With a listener each the clients may have come to different ones; then nobody waits.
  const auto waits = [&] {
    return sum_of(server, &WorkerSnapshot::accepted) == places && sum_of(server, &WorkerSnapshot::accept_pauses) > 0;
  };
  if (!wait_until(waits, milliseconds(shared ? 10'000 : 50))) return false;
  clients.front().close();
  if (clients.back().line() != "x") return false;
  server.shutdown();
  return true;
}

struct Twin {
  const char* scenario;
  bool (*run)(ListenerStrategy);
};

constexpr Twin kTwins[] = {{"shutdown", shutdown_with_clients},
                           {"stop-before-first-poll", stop_before_first_poll},
                           {"drain", drain_with_time},
                           {"drain-zero", drain_without_time},
                           {"drain-stuck", drain_with_stuck_handler},
                           {"handoff", handed_over_and_served},
                           {"cap", waits_for_a_place}};

class LifecycleCalls : public ::testing::TestWithParam<ListenerStrategy> {};

TEST_P(LifecycleCalls, AreNoMoreThanTheSimulationIsMeasuredBy) {
  const auto runs = static_cast<int>(number_from("FLARE_CALLS_RUNS", 10));
  const bool shared = GetParam() == ListenerStrategy::kShared;
  static_cast<void>(own_loopback());  // what it asks the system for is no part of a scenario
  for (const Twin& twin : kTwins) {
    const std::string scenario = std::string("lifecycle.") + (shared ? "shared." : "per-worker.") + twin.scenario;
    long fewest = 0;
    long most = 0;
    int counted = 0;
    for (int tries = 0; counted < runs && tries < 100 * runs; ++tries) {
      const faults::Scope scope;
      if (!twin.run(GetParam())) continue;
      const long calls = faults::all_calls();
      fewest = ++counted == 1 ? calls : std::min(fewest, calls);
      most = std::max(most, calls);
    }
    std::printf("%-42s %3d runs, %3ld..%3ld calls of the system, %3ld in the table\n", scenario.c_str(), counted,
                fewest, most, production_calls_of(scenario));
    EXPECT_EQ(counted, runs) << scenario << " did not come to what it is about";
    EXPECT_LE(most, production_calls_of(scenario)) << scenario;
  }
}

INSTANTIATE_TEST_SUITE_P(Strategy, LifecycleCalls,
                         ::testing::Values(ListenerStrategy::kPerWorker, ListenerStrategy::kShared), name_of);

}  // namespace
}  // namespace flare::testing
