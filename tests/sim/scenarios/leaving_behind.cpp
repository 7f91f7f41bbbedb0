// What a worker that sticks, crashes or is cut leaves to others.
#include "scenarios/accepting.h"
#include "scenarios/asking.h"

namespace flare::sim {

namespace {

// Three clients on two workers, of which one sticks: the first and the second make the other one busier.
struct StuckTarget {
  explicit StuckTarget(const Setup& setup)
      : server(start_server(setup, sticking(gate))),
        address(server.addresses().front()),
        stuck(asking(address, "stick\n")) {
    gate->await_entered();
    first = std::make_unique<Client>(address);
    serve_one(*first);
    second = std::make_unique<Client>(address);
    serve_one(*second);
  }

  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  LineServer server;
  SocketAddress address;
  Client stuck;
  std::unique_ptr<Client> first;
  std::unique_ptr<Client> second;
};

}  // namespace

Scenario taken_back() {
  const Setup setup = shared_setup();
  return server_scenario("accept.taken-back", setup, [setup] {
    StuckTarget target(setup);
    {
      const Within limit(1100 * kMillisecond);
      Client third(target.address);
      serve_one(third);
    }
    const std::vector<WorkerSnapshot> workers = target.server.stats();
    require(workers[0].taken_back + workers[1].taken_back == 1, "scenario", "nothing was taken back");
    target.gate->let_go();
    require(target.stuck.line() == "stick", "service", "a client was not answered");
    require_sound(target.server.drain(1000));
  });
}

Scenario cut_with_queued_token() {
  const Setup setup = shared_setup();
  return server_scenario("accept.cut-with-queued-token", setup, [setup] {
    StuckTarget target(setup);
    Client third = asking(target.address);
    settle();
    const std::vector<WorkerSnapshot> workers = target.server.stats();
    require(workers[0].queued + workers[1].queued == 1, "scenario", "nothing is queued");
    Actor opener("opener", [&target] {
      settle();
      target.gate->let_go();
    });
    target.server.shutdown();
    require(third.await_end() != StreamEnd::kOpen, "stop", "a client is still connected");
  });
}

// The crash comes from inside a handler that the second client finds at work.
Scenario crash_with_waiting_client() {
  return server_scenario("accept.crash-with-waiting-client", {}, [] {
    const auto gate = std::make_shared<Gate>();
    LineServer server = start_server({}, LineFrontend([gate](const std::string& line, int) {
                                       if (line == "crash") {
                                         gate->pass();
                                         World::current().break_next_wait();
                                       }
                                       return line;
                                     }));
    {
      Client poison = asking(server.addresses().front(), "crash\n");
      gate->await_entered();
      Client second = asking(server.addresses().front());
      const Within limit(kMillisecond);
      gate->let_go();
      require(poison.await_end() != StreamEnd::kOpen, "crash", "a crashed worker's connection stays");
      require_answer(second);
    }
    require_sound(server.drain(1000), 0, 1);
  });
}

Scenario crash_with_shared_wake() {
  const Setup setup = shared_setup();
  return server_scenario("accept.crash-with-shared-wake", setup, [setup] {
    LineServer server = start_server(setup, LineFrontend([](const std::string& line, int) {
                                       if (line == "crash") World::current().break_next_accept();
                                       return line;
                                     }));
    const SocketAddress address = server.addresses().front();
    {
      Client poison(address);
      require(poison.ask("crash") == "crash", "service", "no answer");
      settle();
      // Whoever gets the wake of this client, the other worker serves it then.
      Client second = asking(address);
      const Within limit(kMillisecond);
      require_answer(second);
    }
    const std::vector<ShutdownReport> reports = server.drain(1000);
    require_sound(reports, 0, server.crashed_worker_count());
  });
}

}  // namespace flare::sim
