#include "scenarios/faults.h"

#include <new>

#include "engine/arena.h"
#include "flare/base/network_error.h"

namespace flare::sim {

std::uint32_t FaultSurvey::take(const Choice& choice) {
  if (choice.kind != ChoiceKind::kFault) return 0;
  for (FaultCall& one : calls_) {
    if (one.call.hash() != choice.what.hash()) continue;
    ++one.seen;
    return 0;
  }
  calls_.push_back({choice.what, choice.options, 1});
  return 0;
}

std::uint32_t FaultPlan::take(const Choice& choice) {
  if (choice.kind != ChoiceKind::kFault || choice.what.hash() != call_.hash()) return 0;
  ++seen_;
  const bool now = pattern_ == FaultPattern::kFirst    ? seen_ == 1
                   : pattern_ == FaultPattern::kSecond ? seen_ == 2
                                                       : seen_ % 3 == 0;
  if (!now) return 0;
  ++injected_;
  return option_;
}

namespace {

// Clients one after the other; each is answered unless a fault cost it.
int unanswered_clients(const SocketAddress& address, int count) {
  int unanswered = 0;
  for (int i = 0; i < count; ++i) {
    Client client(address);
    if (!may_be_served(client)) ++unanswered;
  }
  return unanswered;
}

void require_nothing_left() {
  require(World::current().open_descriptors() == 0, "start", "a failed start leaves descriptors");
  require(Schedule::current()->alive() == 1, "start", "a failed start leaves threads");
}

void whole_life(const Setup& setup) {
  LineServer server;
  try {
    const ProductScope product;
    // Three addresses: of every call that a start makes there are three.
    server = LineServer::start(SocketAddress::loopback_v4(), echo(), setup.workers, true,
                               {SocketAddress::loopback_v4(), SocketAddress::loopback_v4()}, options_of(setup));
  } catch (const NetworkError& error) {
    require(!error.operation().empty(), "start", "an error without its operation");
    require_nothing_left();
    return;
  } catch (const std::bad_alloc&) {
    require_nothing_left();
    return;
  }
  const int at_start = World::current().faults();
  int unanswered = 0;
  for (const SocketAddress& address : server.addresses()) {
    if (server.crashed_worker_count() < setup.workers) unanswered += unanswered_clients(address, 3);
  }
  const bool memory = arena::was_failed();
  require(unanswered <= World::current().faults() - at_start + (memory ? 1 : 0), "service",
          "more clients were lost than faults");
  server.request_stop();
  for (int i = 0; i < 2; ++i) {
    try {
      server.wait();
    } catch (const NetworkError& error) {
      require(error.operation() == "Scheduler::wait", "report", "a wait that failed names another operation");
    }
  }
  const int crashed = server.crashed_worker_count();
  const std::vector<ShutdownReport> reports = server.drain(1000);
  require(adds_up(reports), "conservation", "the reports do not add up");
  int reported = 0;
  for (const ShutdownReport& one : reports) reported += one.crashed;
  require(reported >= crashed, "report", "a crashed worker is missing in the reports");
}

Setup setup_of(ListenerStrategy strategy) {
  Setup setup;
  setup.strategy = strategy;
  setup.workers = 3;
  return setup;
}

}  // namespace

Scenario fault_scenario(ListenerStrategy strategy) {
  const Setup setup = setup_of(strategy);
  Scenario scenario = server_scenario("faults." + strategy_text(strategy), setup, [setup] { whole_life(setup); });
  scenario.settings.faults = true;
  return scenario;
}

Scenario memory_scenario(ListenerStrategy strategy, std::uint64_t nth) {
  const Setup setup = setup_of(strategy);
  return server_scenario("memory." + strategy_text(strategy) + "." + std::to_string(nth), setup, [setup, nth] {
    arena::fail_at(nth);
    whole_life(setup);
  });
}

}  // namespace flare::sim
