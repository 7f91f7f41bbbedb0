#include <memory>

#include "engine_tests/small_runs.h"
#include "flare/kernel/system_kernel.h"
#include "flare/scheduler/worker_group.h"
#include "scenarios/server_world.h"
#include "weak_orders/scenarios.h"

namespace flare::sim {

namespace {

using Data = Checked<int>;

// A group as start makes it, without its threads.
Shared<WorkerGroup> make_group(int workers) {
  ServingOptions serving;
  serving.error_sink = [](std::string_view) {};
  auto shared = share<WorkerShared>(HandoffPolicy(true, 2, 1), workers, serving);
  for (int i = 0; i < workers; ++i) {
    shared->wakers.push_back(share<Waker>());
    shared->stats.push_back(share<WorkerStats>());
  }
  shared->listeners.resize(static_cast<std::size_t>(workers));
  auto group = share<WorkerGroup>(shared);
  for (WorkerSeat& seat : group->seats) seat.returned.store(false, std::memory_order_relaxed);
  return group;
}

// Each worker writes its field and returns; the watcher, who is told when all have, reads them all.
Scenario watched_group(const char* name, int workers, std::function<bool(const WorkerGroup&)> sees_all_returned) {
  return server_scenario(name, {}, [workers, sees_all_returned = std::move(sees_all_returned)] {
    const Shared<WorkerGroup> group = make_group(workers);
    const auto data = std::make_unique<Data[]>(static_cast<std::size_t>(workers));
    std::vector<std::function<void()>> threads;
    for (int id = 0; id < workers; ++id) {
      threads.push_back([&group, &data, id] {
        run_worker_thread(group, id, [&data, id](WorkerContext&) { data[static_cast<std::size_t>(id)] = 1; }, -1);
      });
    }
    threads.push_back([&] {
      if (!sees_all_returned(*group)) return;
      for (int id = 0; id < workers; ++id) {
        require(data[static_cast<std::size_t>(id)] == 1, "visibility", "what a worker did is not there");
      }
    });
    run_together(threads);
  });
}

// A worker that writes its field and returns.
struct ShortFrontend {
  Data* data;
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext&) { *data = 1; }
};

Scenario is_running() {
  return server_scenario("is-running", {}, [] {
    const auto data = std::make_unique<Data>(0);
    Setup setup;
    auto server = Scheduler<ShortFrontend>::start(SocketAddress::loopback_v4(), ShortFrontend{data.get()}, 1, false, {},
                                                  options_of(setup));
    if (!server.is_running()) require(*data == 1, "visibility", "what the worker did is not there");
    server.shutdown();
  });
}

// A signal handler's stop meets the end of another one: it finds the group, and the leader waits, or it finds none.
Scenario request_stop() {
  return server_scenario("request-stop", {}, [] {
    const auto data = std::make_unique<Data>(0);
    Setup setup;
    auto server = Scheduler<ShortFrontend>::start(SocketAddress::loopback_v4(), ShortFrontend{data.get()}, 1, false, {},
                                                  options_of(setup));
    Actor handler("handler", [&server] { server.request_stop(); });
    server.shutdown();
  });
}

}  // namespace

std::vector<Scenario> group_scenarios() {
  return {
      watched_group("group-returned", 1, [](const WorkerGroup& group) { return group.all_returned(); }),
      watched_group("group-inside", 1,
                    [](const WorkerGroup& group) {
                      require(!group.is_worker_thread(), "thread", "a watcher is taken for a worker");
                      return false;
                    }),
      watched_group("group-last", 2,
                    [](const WorkerGroup& group) {
                      const Result<bool> over = SystemKernel::wait_readable(group.stop_event.fd(), -1);
                      return over.ok() && over.value();
                    }),
      is_running(),
      request_stop(),
  };
}

std::vector<Scenario> weak_order_scenarios() {
  std::vector<Scenario> all = part_scenarios();
  for (Scenario& one : group_scenarios()) all.push_back(std::move(one));
  for (Scenario& one : all) {
    one.name = "weak." + one.name;
    one.options.weak_memory = true;
  }
  return all;
}

}  // namespace flare::sim
