#include "scenarios/storm.h"

namespace flare::sim {

namespace {

std::uint32_t pick(std::uint32_t options, Name what) {
  return Schedule::current()->choose(options, ChoiceKind::kCalm, what);
}

// One client's life: it asks up to three times, and leaves in one of four ways. Returns how often it was answered.
int live(const SocketAddress& address) {
  Client client(address);
  int answered = 0;
  const auto asks = static_cast<int>(1 + pick(3, "requests of a client"));
  for (int i = 0; i < asks && may_be_served(client); ++i) ++answered;
  if (!client.connected()) return answered;
  switch (pick(4, "a client leaves")) {
    case 1:
      client.reset();
      break;
    case 2:
      client.finish_sending();
      static_cast<void>(client.await_end());
      break;
    case 3:
      static_cast<void>(client.send("half a li"));
      break;
    default:
      break;
  }
  return answered;
}

void await_polling(const LineServer& server) {
  for (;;) {
    bool all = true;
    for (const WorkerSnapshot& one : server.stats()) all = all && one.ticks > 0;
    if (all) return;
    Schedule::current()->yield();
  }
}

void end_server(LineServer& server) {
  switch (pick(5, "how the server stops")) {
    case 1:
      require_sound(server.drain(0));
      return;
    case 2:
      server.shutdown();
      return;
    case 3:
      server.request_stop();
      server.wait();
      require_sound(server.drain(100));
      return;
    case 4: {
      Actor second("second stop", [&server] { static_cast<void>(server.drain(10)); });
      static_cast<void>(server.drain(1000));
      return;
    }
    default:
      require_sound(server.drain(1000));
      return;
  }
}

Scenario storm(const Setup& setup, const std::string& name) {
  return server_scenario("storm." + strategy_text(setup.strategy) + "." + name, setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    // A worker opens its poller itself; without a number for it, it would crash.
    if (setup.world.descriptors < 64) await_polling(server);
    {
      std::vector<std::unique_ptr<Actor>> clients;
      for (int i = 0; i < setup.clients; ++i) {
        clients.push_back(std::make_unique<Actor>(Name("client"), [address] { static_cast<void>(live(address)); }));
      }
      // A stop in the middle, or when everybody was served.
      if (pick(2, "the stop meets the clients") == 0) {
        for (const auto& one : clients) one->join();
      }
      end_server(server);
    }
    require(!server.is_running(), "stop", "it runs after the stop");
  });
}

// A thread of the embedding program that opens and closes descriptors all the time: a number that the server gave back
// is somebody else's at once.
Scenario bystander(const Setup& setup) {
  return server_scenario("storm." + strategy_text(setup.strategy) + ".bystander", setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    Atomic<bool> over{false};
    {
      Actor other("bystander", [&over] {
        while (!over.load()) {
          const Result<int> fd = SystemKernel::socket_stream(AF_INET);
          Schedule::current()->yield();
          if (fd.ok()) static_cast<void>(SystemKernel::close(fd.value()));
        }
      });
      Actor client("client", [address] { static_cast<void>(live(address)); });
      end_server(server);
      client.join();
      over.store(true);
    }
  });
}

Scenario chaos(const Setup& setup, const std::string& name) {
  return server_scenario("chaos." + strategy_text(setup.strategy) + "." + name, setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    await_polling(server);
    settings().faults = true;
    {
      std::vector<std::unique_ptr<Actor>> clients;
      for (int i = 0; i < setup.clients; ++i) {
        clients.push_back(std::make_unique<Actor>(Name("client"), [address] {
          for (int round = 0; round < 2; ++round) static_cast<void>(live(address));
        }));
      }
      for (const auto& one : clients) one->join();
    }
    settings().faults = false;
    // What must hold after any faults: whoever comes now is served, as long as a worker is left, and the stop ends.
    const int crashed = server.crashed_worker_count();
    if (crashed < setup.workers) {
      for (int i = 0; i < setup.clients; ++i) {
        Client later(address);
        require(later.ask("x") == "x", "liveness", "a client was not served after the faults ended");
      }
    }
    require_sound(server.drain(1000), 0, crashed);
  });
}

}  // namespace

std::vector<Scenario> storm_scenarios(ListenerStrategy strategy) {
  Setup setup;
  setup.strategy = strategy;
  setup.workers = 4;
  setup.clients = 8;
  Setup capped = setup;
  capped.cap = 1;
  Setup few = setup;
  few.world.descriptors = 22;  // of which the server needs 17 or 14 for itself
  return {storm(setup, "open"), storm(capped, "capped"), storm(few, "descriptors"), bystander(setup)};
}

std::vector<Scenario> chaos_scenarios(ListenerStrategy strategy) {
  Setup setup;
  setup.strategy = strategy;
  setup.workers = 3;
  setup.clients = 4;
  Setup capped = setup;
  capped.cap = 1;
  return {chaos(setup, "open"), chaos(capped, "capped")};
}

}  // namespace flare::sim
