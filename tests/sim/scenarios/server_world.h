// server_world.h: what scenarios of the whole server share: options, clients, sums, the state at the end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/explorer.h"
#include "flare/scheduler/scheduler.h"
#include "kernel/client.h"
#include "kernel/world.h"
#include "support/line_protocol.h"

namespace flare::sim {

using testing::LineFrontend;
using LineServer = Scheduler<LineFrontend>;

struct Setup {
  ListenerStrategy strategy = ListenerStrategy::kPerWorker;
  int workers = 2;
  int clients = 2;
  int threshold = 1;
  int capacity = 4;
  int cap = 0;
  int budget = 4;
  bool handoff = true;
  int defer_s = 0;       // deferred accept
  int poll_cap_ms = -1;  // none: a lost wake is a deadlock, not a delay
  WorldOptions world = {};
};

inline void require(bool condition, Name oracle, const char* text) {
  Schedule::current()->require(condition, oracle, text);
}

inline LineFrontend echo() {
  return LineFrontend([](const std::string& line, int) { return line; });
}

inline SchedulerOptions options_of(const Setup& setup) {
  SchedulerOptions options;
  options.strategy = setup.strategy;
  options.policy = HandoffPolicy(setup.handoff, setup.capacity, setup.threshold);
  options.listener.defer_accept_s = setup.defer_s;
  options.serving.poll_cap = std::chrono::milliseconds(setup.poll_cap_ms);
  options.serving.max_connections = setup.cap;
  options.serving.accept_budget = setup.budget;
  options.serving.error_sink = [](std::string_view) {};
  return options;
}

inline LineServer start_server(const Setup& setup, LineFrontend frontend = echo()) {
  return LineServer::start(SocketAddress::loopback_v4(), std::move(frontend), setup.workers, false, {},
                           options_of(setup));
}

// What every stop must give: each worker's identity, what was handed out was received, nobody stuck or crashed.
inline void require_sound(const std::vector<ShutdownReport>& reports, int stuck = 0, int crashed = 0) {
  require(adds_up(reports), "conservation", "the reports do not add up");
  int stuck_seen = 0;
  int crashed_seen = 0;
  for (const ShutdownReport& one : reports) {
    require(one.in_flight_at_deadline == one.timed_out + one.left, "report", "in flight is not timed out and left");
    stuck_seen += one.stuck;
    crashed_seen += one.crashed;
  }
  require(stuck_seen == stuck, "report", "another number of stuck workers than expected");
  require(crashed_seen == crashed, "report", "another number of crashed workers than expected");
}

// A client that stays: connects, asks once, is answered, stays open until its scope ends.
inline void serve_one(Client& client) {
  require(client.connected(), "service", "a client was refused before the stop");
  require(client.ask("x") == "x", "service", "a request before the stop was not answered");
}

// A client that may meet the stop: it is answered, or sees an end; it never waits for ever (that is a deadlock).
inline bool may_be_served(Client& client) {
  if (!client.connected()) return false;
  const std::optional<std::string> answer = client.ask("x");
  require(!answer || *answer == "x", "service", "a client got another answer");
  if (!answer) require(client.end() != StreamEnd::kOpen, "service", "no answer and no end");
  return answer.has_value();
}

// A scenario over a fresh world whose end is checked: every number and every connection is gone.
inline Scenario server_scenario(std::string name, const Setup& setup, std::function<void()> body) {
  Scenario scenario;
  scenario.name = std::move(name);
  scenario.body = std::move(body);
  scenario.before = [setup] { World::current().reset(setup.world); };
  scenario.after = []() -> std::string {
    const World& world = World::current();
    if (world.open_descriptors() != 0) return std::to_string(world.open_descriptors()) + " descriptors are still open";
    if (world.live_connections() != 0) return std::to_string(world.live_connections()) + " connections are still alive";
    return {};
  };
  return scenario;
}

inline std::string strategy_text(ListenerStrategy strategy) {
  return strategy == ListenerStrategy::kShared ? "shared" : "per-worker";
}

}  // namespace flare::sim
