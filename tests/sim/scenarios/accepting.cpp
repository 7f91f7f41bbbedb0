#include "scenarios/accepting.h"

#include "scenarios/waiting.h"

namespace flare::sim {

namespace {

Setup shared_setup() {
  Setup setup;
  setup.strategy = ListenerStrategy::kShared;
  return setup;
}

// "stick" waits at the gate.
LineFrontend sticking(const std::shared_ptr<Gate>& gate) {
  return LineFrontend([gate](const std::string& line, int) {
    if (line == "stick") gate->pass();
    return line;
  });
}

Client asking(const SocketAddress& address, std::string_view line = "x\n") {
  Client client(address);
  require(client.connected() && client.send(line), "service", "a client was refused");
  return client;
}

void require_answer(Client& client) {
  require(client.line() == "x", "service", "a client was not answered");
}

void prompt(const SocketAddress& address) {
  const Within limit(kMillisecond);
  Client client(address);
  serve_one(client);
}

}  // namespace

Scenario handed_over() {
  const Setup setup = shared_setup();
  return server_scenario("accept.handed-over", setup, [setup] {
    LineServer server = start_server(setup);
    settle();
    {
      std::vector<Client> clients;
      for (int i = 0; i < 3; ++i) clients.push_back(asking(server.addresses().front()));
      const Within limit(kMillisecond);
      for (Client& one : clients) require_answer(one);
    }
    require_sound(server.drain(1000));
  });
}

namespace {

// The answer is the worker's number.
LineFrontend telling_worker() {
  return LineFrontend([](const std::string&, int worker) { return std::to_string(worker); });
}

int worker_of(Client& client) {
  const std::optional<std::string> answer = client.ask("?");
  require(answer.has_value(), "service", "a client was not answered");
  return answer->front() - '0';
}

// Some clients are served in turn; the number of the worker of each.
std::vector<int> serve_in_turn(const SocketAddress& address, std::vector<Client>& clients, std::size_t count) {
  std::vector<int> workers;
  clients.reserve(count + 2);
  while (clients.size() < count) {
    clients.emplace_back(address);
    workers.push_back(worker_of(clients.back()));
    settle();
  }
  return workers;
}

}  // namespace

Scenario handed_to_one_that_falls_asleep() {
  const Setup setup = shared_setup();
  return server_scenario("accept.handed-to-one-that-falls-asleep", setup, [setup] {
    LineServer server = start_server(setup, telling_worker());
    const SocketAddress address = server.addresses().front();
    {
      std::vector<Client> clients;
      const std::vector<int> workers = serve_in_turn(address, clients, 3);
      // The first two are with one worker each, so the third one's is busier and the other one is the target.
      require(workers[0] != workers[1], "scenario", "two clients are with one worker");
      Client& of_target = clients[workers[0] == workers[2] ? 1 : 0];
      const Within limit(kMillisecond);
      require(of_target.send("?\n"), "service", "the connection is gone");
      clients.push_back(asking(address));
      require(clients.back().line().has_value() && of_target.line().has_value(), "service", "no answer");
    }
    server.shutdown();
  });
}

Scenario asked_as_it_falls_asleep() {
  Setup setup = shared_setup();
  setup.cap = 2;
  setup.handoff = false;
  setup.world.waiters_stay = true;
  return server_scenario("accept.asked-as-it-falls-asleep", setup, [setup] {
    LineServer server = start_server(setup, telling_worker());
    const SocketAddress address = server.addresses().front();
    {
      std::vector<Client> clients;
      static_cast<void>(serve_in_turn(address, clients, 2));
      const Within limit(kMillisecond);
      clients.push_back(asking(address));
      clients.push_back(asking(address));
      require(clients[0].send("?\n") && clients[1].send("?\n"), "service", "the connection is gone");
      for (Client& one : clients) require(one.line().has_value(), "service", "no answer");
    }
    server.shutdown();
  });
}

namespace {

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

// Every descriptor that is left to the process.
std::vector<int> take_all_descriptors() {
  std::vector<int> taken;
  for (;;) {
    const Result<int> one = SystemKernel::socket_stream(AF_INET);
    if (!one.ok()) return taken;
    taken.push_back(one.value());
  }
}

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

namespace {

struct Spy {
  WorkerHandoffPool* pool = nullptr;
};

// The line protocol, and a look at the pool from outside.
class SpiedFrontend {
 public:
  explicit SpiedFrontend(std::shared_ptr<Spy> spy) : spy_(std::move(spy)), line_(echo()) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    spy_->pool = &context.pool();
    line_.run_worker(context);
  }

 private:
  std::shared_ptr<Spy> spy_;
  LineFrontend line_;
};

void require_loads(const WorkerHandoffPool& pool, const std::vector<WorkerSnapshot>& workers, std::uint64_t live) {
  std::uint64_t sum = 0;
  for (int id = 0; id < pool.size(); ++id) {
    const WorkerSnapshot& one = workers[static_cast<std::size_t>(id)];
    require(pool.load(id) == static_cast<std::int64_t>(one.live), "load", "a worker's load is not what it serves");
    sum += one.live;
  }
  require(sum == live, "load", "another number of connections is served than there are clients");
}

}  // namespace

Scenario loads_at_rest() {
  const Setup setup = shared_setup();
  return server_scenario("accept.loads-at-rest", setup, [setup] {
    const auto spy = std::make_shared<Spy>();
    auto server = Scheduler<SpiedFrontend>::start(SocketAddress::loopback_v4(), SpiedFrontend(spy), setup.workers, false,
                                                  {}, options_of(setup));
    settle();
    {
      Client first = asking(server.addresses().front());
      Client second = asking(server.addresses().front());
      require_answer(first);
      require_answer(second);
      settle();
      require_loads(*spy->pool, server.stats(), 2);
    }
    settle();
    require_loads(*spy->pool, server.stats(), 0);
    require_sound(server.drain(1000));
  });
}

}  // namespace flare::sim
