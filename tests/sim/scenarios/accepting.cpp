#include "scenarios/accepting.h"

#include "scenarios/asking.h"

namespace flare::sim {

namespace {

void prompt(const SocketAddress& address) {
  const Within limit(kMillisecond);
  Client client(address);
  serve_one(client);
}

// One worker serves a client that then makes its handler stick, while others come: nobody waits at the listener.
Scenario sticks_while_others_come(const std::string& name, const Setup& setup, int others) {
  return server_scenario("accept." + name, setup, [setup, others] {
    const auto gate = std::make_shared<Gate>();
    LineServer server = start_server(setup, sticking(gate));
    const SocketAddress address = server.addresses().front();
    {
      Client stuck(address);
      serve_one(stuck);
      settle();
      std::vector<Client> clients;
      for (int i = 0; i < others; ++i) clients.push_back(asking(address));
      require(stuck.send("stick\n"), "service", "the connection is gone");
      settle();
      const std::vector<WorkerSnapshot> workers = server.stats();
      require(workers[0].accepted + workers[1].accepted == static_cast<std::uint64_t>(1 + others), "late",
              "a client waits at the listener of a worker that could accept it");
      gate->let_go();
      require(stuck.line() == "stick", "service", "a client was not answered");
      for (Client& one : clients) require_answer(one);
    }
    require_sound(server.drain(1000));
  });
}

}  // namespace

Scenario handler_sticks() {
  return sticks_while_others_come("handler-sticks", shared_setup(), 1);
}

Scenario budget_spent() {
  Setup setup = shared_setup();
  setup.budget = 1;
  setup.world.waiters_stay = true;
  return sticks_while_others_come("budget-spent", setup, 2);
}

Scenario cap_reached() {
  Setup setup = shared_setup();
  setup.cap = 1;
  setup.handoff = false;
  setup.world.waiters_stay = true;
  return server_scenario("accept.cap-reached", setup, [setup] {
    LineServer server = start_server(setup);
    settle();
    {
      Client first = asking(server.addresses().front());
      Client second = asking(server.addresses().front());
      const Within limit(kMillisecond);
      require_answer(first);
      require_answer(second);
    }
    require_sound(server.drain(1000));
  });
}

Scenario place_freed() {
  Setup setup = shared_setup();
  setup.cap = 1;
  setup.handoff = false;
  return server_scenario("accept.place-freed", setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    {
      auto first = std::make_unique<Client>(address);
      serve_one(*first);
      Client second(address);
      serve_one(second);
      settle();
      Client third = asking(address);
      settle();
      const Within limit(kMillisecond);
      first.reset();
      require_answer(third);
    }
    require_sound(server.drain(1000));
  });
}

Scenario place_freed_meanwhile() {
  Setup setup;
  setup.cap = 1;
  return server_scenario("accept.place-freed-meanwhile", setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    {
      Client first(address);
      serve_one(first);
      Client second(address);
      serve_one(second);
      settle();
      const Within limit(kMillisecond);
      Actor leaver("leaver", [&first] { first.close(); });
      Client third = asking(address);
      require_answer(third);
    }
    require_sound(server.drain(1000));
  });
}

Scenario resumed() {
  Setup setup;
  setup.workers = 1;
  setup.cap = 1;
  return server_scenario("accept.resumed", setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    {
      auto first = std::make_unique<Client>(address);
      serve_one(*first);
      Client second = asking(address);
      settle();
      const Within limit(kMillisecond);
      first.reset();
      require_answer(second);
    }
    settle();
    prompt(address);
    require_sound(server.drain(1000));
  });
}

namespace {

Setup one_worker() {
  Setup setup;
  setup.workers = 1;
  setup.world.descriptors = 12;
  return setup;
}

}  // namespace

Scenario descriptor_freed_by_client() {
  Setup setup;
  setup.world.descriptors = 16;
  return server_scenario("accept.descriptor-freed-by-client", setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    {
      auto first = std::make_unique<Client>(address);
      serve_one(*first);
      settle();
      const std::vector<int> taken = take_all_descriptors();
      Client second = asking(address);
      settle();
      {
        const Within limit(kMillisecond);
        first.reset();
        require_answer(second);
      }
      for (const int fd : taken) static_cast<void>(SystemKernel::close(fd));
    }
    require_sound(server.drain(1000));
  });
}

Scenario descriptor_freed_by_stranger() {
  const Setup setup = one_worker();
  return server_scenario("accept.descriptor-freed-by-stranger", setup, [setup] {
    LineServer server = start_server(setup);
    {
      settle();
      const std::vector<int> taken = take_all_descriptors();
      Client client = asking(server.addresses().front());
      settle();
      for (const int fd : taken) static_cast<void>(SystemKernel::close(fd));
      const Within limit(100 * kMillisecond);
      require_answer(client);
    }
    require_sound(server.drain(1000));
  });
}

}  // namespace flare::sim
