#include "scenarios/lifecycle.h"

#include "scenarios/asking.h"

namespace flare::sim {

namespace {

// Two clients of the control thread that have asked; whether the workers have run by then is the schedule's choice.
void two_asked(const SocketAddress& address, std::vector<Client>& clients) {
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(address);
    require(clients.back().connected() && clients.back().send("x\n"), "service",
            "a client was refused before the stop");
  }
}

// Where there are many schedules anyway, one that has asked and one that says nothing, or two of those.
void connect_idle(const SocketAddress& address, std::vector<Client>& clients) {
  clients.emplace_back(address);
  require(clients.back().connected(), "service", "a client was refused before the stop");
}

std::vector<Client> one_asked_one_idle(const SocketAddress& address) {
  std::vector<Client> clients;
  clients.push_back(asking(address));
  connect_idle(address, clients);
  return clients;
}

// After a drain: the first has its answer, and all see the end.
void require_drained(std::vector<Client>& clients) {
  require(clients[0].line() == "x", "drain", "a request that was there before the drain was not answered");
  for (Client& one : clients) require(one.await_end() == StreamEnd::kEof, "drain", "a connection was reset");
}

// After a stop that cuts: an answer or none, then an end.
void require_cut(std::vector<Client>& clients) {
  for (Client& one : clients) {
    static_cast<void>(one.await_end());
    require(one.end() != StreamEnd::kOpen, "stop", "a client is still connected");
  }
}

Scenario shutdown_with_clients(const Setup& setup) {
  return server_scenario("shutdown", setup, [setup] {
    LineServer server = start_server(setup);
    std::vector<Client> clients;
    two_asked(server.addresses().front(), clients);
    server.shutdown();
    require_cut(clients);
    require(!server.is_running(), "stop", "it runs after the shutdown");
  });
}

Scenario double_shutdown(const Setup& setup) {
  return server_scenario("double-shutdown", setup, [setup] {
    LineServer server = start_server(setup);
    std::vector<Client> clients;
    for (int i = 0; i < 2; ++i) connect_idle(server.addresses().front(), clients);
    // Asked of the schedule, not of the server: it would take a lock, and the schedules multiply.
    const auto require_stopped = [] {
      require(Schedule::current()->alive() <= 2, "stop", "a worker runs after a caller's shutdown");
    };
    Actor second("second", [&server, require_stopped] {
      server.shutdown();
      require_stopped();
    });
    server.shutdown();
    require_stopped();
    second.join();
    require_cut(clients);
  });
}

Scenario stop_before_first_poll(const Setup& setup) {
  return server_scenario("stop-before-first-poll", setup, [setup] {
    LineServer server = start_server(setup);
    server.shutdown();
  });
}

// Requests that came before the drain are answered, whoever accepts, hands over or adopts them.
Scenario drain_with_time(const Setup& setup) {
  return server_scenario("drain", setup, [setup] {
    LineServer server = start_server(setup);
    std::vector<Client> clients = one_asked_one_idle(server.addresses().front());
    const SimTime before = Schedule::current()->now();
    const std::vector<ShutdownReport> reports = server.drain(1000);
    require(Schedule::current()->now() - before <= 1'100'000'000, "drain",
            "it took longer than timeout and join grace");
    require_sound(reports);
    require_drained(clients);
  });
}

// The listener keeps back who is silent. When the drain begins it stops to, the kernel asks again in time, and the
// client sees the end.
Scenario deferred_drain(const Setup& setup) {
  return server_scenario("deferred-drain", setup, [setup] {
    LineServer server = start_server(setup);
    std::vector<Client> clients = one_asked_one_idle(server.addresses().front());
    Actor kernel("kernel", [] {
      wait_for(1000 * kMillisecond);
      ask_stalled_clients();
    });
    const std::vector<ShutdownReport> reports = server.drain(5000);
    require_sound(reports);
    require_drained(clients);
  });
}

// A drain that is shorter than what silent clients are given stops to accept in time for who came last. One comes
// just before that, another one just before the end.
Scenario deferred_short_drain(const Setup& setup) {
  return server_scenario("deferred-short-drain", setup, [setup] {
    LineServer server = start_server(setup, LineFrontend([](const std::string& line, int) {
                                       wait_for(40 * kMillisecond);
                                       return line;
                                     }));
    const SocketAddress address = server.addresses().front();
    Actor in_time("in time", [address] {
      wait_for(590 * kMillisecond);
      Client client(address);
      require(client.ask("x") == "x", "drain", "a client was not answered that came in time");
    });
    Actor late("late", [address] {
      wait_for(790 * kMillisecond);
      Client client(address);
      if (client.connected()) static_cast<void>(client.ask("x"));
    });
    const std::vector<ShutdownReport> reports = server.drain(800);
    require_sound(reports);
    for (const ShutdownReport& one : reports) require(one.cut == 0, "drain", "a client was accepted, and cut");
  });
}

// Nobody waits: a push of one of the clients may meet the target's last look at its queue.
Scenario drain_without_time(const Setup& setup) {
  const Sighting taken{"taken by the target"};
  const Sighting refused{"refused by a closed queue"};
  Scenario scenario = server_scenario("drain-zero", setup, [setup, taken, refused] {
    LineServer server = start_server(setup);
    std::vector<Client> clients;
    two_asked(server.addresses().front(), clients);
    require_sound(server.drain(0));
    require_cut(clients);
    for (const WorkerSnapshot& one : server.stats()) {
      *taken.times += one.received;
      *refused.times += one.refused;
    }
  });
  scenario.about = {taken, refused};
  return scenario;
}

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
  std::vector<Scenario> all = {shutdown_with_clients(setup), double_shutdown(setup),    stop_before_first_poll(setup),
                               drain_with_time(setup),       drain_without_time(setup), drain_with_stuck_handler(setup),
                               crash_of_a_worker(setup)};
  for (Scenario& one : limit_scenarios(setup)) all.push_back(std::move(one));
  setup.defer_s = 1;
  all.push_back(deferred_drain(setup));
  all.push_back(deferred_short_drain(setup));
  for (Scenario& one : deferred_limit_scenarios(setup)) {
    one.name = "deferred-" + one.name;
    all.push_back(std::move(one));
  }
  for (Scenario& one : all) one.name = "lifecycle." + strategy_text(strategy) + "." + one.name;
  return all;
}

}  // namespace flare::sim
