#include "scenarios/stopping.h"

#include "flare/base/network_error.h"
#include "scenarios/asking.h"

namespace flare::sim {

Scenario drain_of_an_idle_server() {
  return server_scenario("stop.idle-drain", {}, [] {
    LineServer server = start_server({});
    settle();
    const SimTime before = Schedule::current()->now();
    require_sound(server.drain(1000));
    require(Schedule::current()->now() - before <= 100 * kMillisecond, "late", "an idle server drains too long");
  });
}

// Who has asked half keeps its worker accepting while the other one, at the end of the grace, closes its queue.
void drain_with_late_client(LineServer& server) {
  const SocketAddress address = server.addresses().front();
  Client half = asking(address, "ha");
  settle();
  Actor late("late", [address] {
    wait_for(50 * kMillisecond);
    Client client(address);
    static_cast<void>(may_be_served(client));
  });
  require_sound(server.drain(200));
}

Scenario late_client_in_drain() {
  return server_scenario("stop.late-client", {}, [] {
    LineServer server = start_server({});
    drain_with_late_client(server);
  });
}

Scenario drain_zero_awaits_handler() {
  return server_scenario("stop.drain-zero-awaits-handler", {}, [] {
    const auto gate = std::make_shared<Gate>();
    LineServer server = start_server({}, LineFrontend([gate](const std::string& line, int) {
                                       gate->pass();
                                       return line;
                                     }));
    Client client(server.addresses().front());
    require(client.connected() && client.send("x\n"), "service", "no connection");
    gate->await_entered();
    Actor opener("opener", [gate] {
      wait_for(500 * kMillisecond);
      gate->let_go();
    });
    require_sound(server.drain(0));
  });
}

Scenario request_meets_shutdown() {
  return server_scenario("stop.request-meets-shutdown", {}, [] {
    Setup setup;
    setup.workers = 1;
    LineServer server = start_server(setup);
    Actor signal("signal", [&server] { server.request_stop(); });
    server.shutdown();
  });
}

namespace {

struct Written {
  Checked<int> value{0};
};

// A worker that looks, after it stopped, at what was written before.
class LookingFrontend {
 public:
  explicit LookingFrontend(std::shared_ptr<Written> written) : written_(std::move(written)), line_(echo()) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    line_.run_worker(context);
    const int value = written_->value;
    require(value == 1, "stop", "what was written before the stop is not there");
  }

 private:
  std::shared_ptr<Written> written_;
  LineFrontend line_;
};

}  // namespace

Scenario stop_publishes() {
  return server_scenario("stop.publishes", {}, [] {
    Setup setup;
    setup.workers = 1;
    const auto written = std::make_shared<Written>();
    auto server = Scheduler<LookingFrontend>::start(SocketAddress::loopback_v4(), LookingFrontend(written),
                                                    setup.workers, false, {}, options_of(setup));
    written->value = 1;
    server.shutdown();
  });
}

Scenario failed_start() {
  return server_scenario("stop.failed-start", {}, [] {
    Setup setup;
    settings().faults = true;
    try {
      LineServer server = start_server(setup);
      settings().faults = false;
      server.shutdown();
    } catch (const NetworkError&) {
      settings().faults = false;
    }
  });
}

Scenario shutdown_among_strangers() {
  Setup setup;
  setup.world.strangers = true;
  return server_scenario("stop.strangers", setup, [setup] {
    LineServer server = start_server(setup);
    Client first(server.addresses().front());
    require(first.connected() && first.send("x\n"), "service", "a client was refused before the stop");
    server.shutdown();
    static_cast<void>(first.await_end());
  });
}

}  // namespace flare::sim
