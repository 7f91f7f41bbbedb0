// Who accepts, who is handed a client, and what each is loaded with.
#include "scenarios/accepting.h"
#include "scenarios/asking.h"

namespace flare::sim {

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

struct Spy {
  Atomic<WorkerHandoffPool*> pool{nullptr};
};

// The line protocol, and a look at the pool from outside.
class SpiedFrontend {
 public:
  explicit SpiedFrontend(std::shared_ptr<Spy> spy) : spy_(std::move(spy)), line_(echo()) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    spy_->pool.store(&context.pool());
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
    auto server = Scheduler<SpiedFrontend>::start(SocketAddress::loopback_v4(), SpiedFrontend(spy), setup.workers,
                                                  false, {}, options_of(setup));
    settle();
    {
      Client first = asking(server.addresses().front());
      Client second = asking(server.addresses().front());
      require_answer(first);
      require_answer(second);
      settle();
      require_loads(*spy->pool.load(), server.stats(), 2);
    }
    settle();
    require_loads(*spy->pool.load(), server.stats(), 0);
    require_sound(server.drain(1000));
  });
}

}  // namespace flare::sim
