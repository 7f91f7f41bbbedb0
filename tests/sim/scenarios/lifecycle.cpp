#include "scenarios/lifecycle.h"

namespace flare::sim {

namespace {

// Two clients of one thread, served while the server runs.
void two_served(const SocketAddress& address, std::vector<Client>& clients) {
  for (int i = 0; i < 2; ++i) clients.emplace_back(address);
  for (Client& one : clients) serve_one(one);
}

Scenario quiet_shutdown(const Setup& setup) {
  return server_scenario("shutdown", setup, [setup] {
    LineServer server = start_server(setup);
    std::vector<Client> clients;
    two_served(server.addresses().front(), clients);
    server.shutdown();
    for (Client& one : clients) require(one.await_end() != StreamEnd::kOpen, "stop", "a client is still connected");
    require(!server.is_running(), "stop", "it runs after the shutdown");
  });
}

Scenario shutdown_in_traffic(const Setup& setup) {
  return server_scenario("shutdown-in-traffic", setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    Actor traffic("clients", [address] {
      Client a(address);
      Client b(address);
      static_cast<void>(may_be_served(a));
      static_cast<void>(may_be_served(b));
    });
    server.shutdown();
  });
}

Scenario double_shutdown(const Setup& setup) {
  return server_scenario("double-shutdown", setup, [setup] {
    LineServer server = start_server(setup);
    std::vector<Client> clients;
    two_served(server.addresses().front(), clients);
    Actor second("second", [&server] {
      server.shutdown();
      require(!server.is_running(), "stop", "it runs after the second caller's shutdown");
    });
    server.shutdown();
    require(!server.is_running(), "stop", "it runs after the first caller's shutdown");
    second.join();
  });
}

Scenario stop_before_first_poll(const Setup& setup) {
  return server_scenario("stop-before-first-poll", setup, [setup] {
    LineServer server = start_server(setup);
    server.shutdown();
  });
}

Scenario drain_with_time(const Setup& setup) {
  return server_scenario("drain", setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    std::vector<Client> clients;
    two_served(address, clients);
    Actor late("late client", [address] {
      Client one(address);
      // Within the grace a new connection's first request is answered; later it is refused. It never waits in vain.
      static_cast<void>(may_be_served(one));
      if (one.connected()) require(one.await_end() != StreamEnd::kReset, "drain", "an answer turned into a reset");
    });
    const SimTime before = Schedule::current()->now();
    const std::vector<ShutdownReport> reports = server.drain(1000);
    require(Schedule::current()->now() - before <= 1'100'000'000, "drain", "it took longer than timeout and join grace");
    require_sound(reports);
  });
}

Scenario drain_without_time(const Setup& setup) {
  return server_scenario("drain-zero", setup, [setup] {
    LineServer server = start_server(setup);
    std::vector<Client> clients;
    two_served(server.addresses().front(), clients);
    const std::vector<ShutdownReport> reports = server.drain(0);
    require_sound(reports);
    std::int64_t cut = 0;
    for (const ShutdownReport& one : reports) cut += one.cut;
    require(cut == 2, "report", "the two open connections were not counted as cut");
  });
}

// A gate that a handler waits at: opened by the scenario, in virtual time.
struct Gate {
  Mutex mutex;
  CondVar changed;
  bool open = false;
  bool entered = false;
  void pass() {
    mutex.lock();
    entered = true;
    changed.notify_all();
    changed.wait(mutex, [this] { return open; });
    mutex.unlock();
  }
  void await_entered() {
    mutex.lock();
    changed.wait(mutex, [this] { return entered; });
    mutex.unlock();
  }
  void let_go() {
    mutex.lock();
    open = true;
    changed.notify_all();
    mutex.unlock();
  }
};

Scenario drain_with_stuck_handler(const Setup& setup) {
  return server_scenario("drain-stuck", setup, [setup] {
    const auto gate = std::make_shared<Gate>();
    LineServer server = start_server(setup, LineFrontend([gate](const std::string& line, int) {
                                       if (line == "stick") gate->pass();
                                       return line;
                                     }));
    Client stuck(server.addresses().front());
    require(stuck.connected() && stuck.send("stick\n"), "service", "no connection");
    gate->await_entered();
    const SimTime before = Schedule::current()->now();
    const std::vector<ShutdownReport> reports = server.drain(200);
    require(Schedule::current()->now() - before <= 300'000'000, "drain", "it took longer than timeout and join grace");
    require_sound(reports, 1);
    gate->let_go();  // the detached worker wakes up in a world that is gone, and must touch none of it
  });
}

Scenario crash_of_a_worker(const Setup& setup) {
  return server_scenario("crash", setup, [setup] {
    LineServer server = start_server(setup, LineFrontend([](const std::string& line, int) {
                                       if (line == "crash") World::current().break_next_wait();
                                       return line;
                                     }));
    const SocketAddress address = server.addresses().front();
    Client poison(address);
    // The worker answers, then its poller fails: it cuts its own connections and hands on what waits.
    require(poison.ask("crash") == "crash", "service", "no answer");
    require(poison.await_end() != StreamEnd::kOpen, "crash", "a crashed worker's connection stays");
    Client next(address);
    serve_one(next);
    require_sound(server.drain(100), 0, 1);
  });
}

}  // namespace

std::vector<Scenario> lifecycle_scenarios(ListenerStrategy strategy) {
  Setup setup;
  setup.strategy = strategy;
  std::vector<Scenario> all = {quiet_shutdown(setup),         shutdown_in_traffic(setup), double_shutdown(setup),
                               stop_before_first_poll(setup), drain_with_time(setup),     drain_without_time(setup),
                               drain_with_stuck_handler(setup), crash_of_a_worker(setup)};
  for (Scenario& one : all) one.name = "lifecycle." + strategy_text(strategy) + "." + one.name;
  return all;
}

}  // namespace flare::sim
