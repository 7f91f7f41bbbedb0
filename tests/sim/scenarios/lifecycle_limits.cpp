// The lifecycle's scenarios of limits: a start that fails, a missing place or descriptor, a push that comes late.
#include <array>
#include <memory>

#include "flare/base/network_error.h"
#include "scenarios/asking.h"
#include "scenarios/lifecycle.h"
#include "scenarios/stopping.h"

namespace flare::sim {

namespace {

std::uint64_t sum_of(const LineServer& server, std::uint64_t WorkerSnapshot::* counter) {
  std::uint64_t sum = 0;
  for (const WorkerSnapshot& one : server.stats()) sum += one.*counter;
  return sum;
}

// The operations that a start consists of, as its errors name them.
constexpr std::array kStartSteps = {
    "socket", "setsockopt SO_REUSEADDR", "setsockopt TCP_NODELAY", "bind", "listen", "getsockname",
    "Waker",  "Scheduler::start"};

// Explored with one fault: each call of a start fails once with each of its errors, and nothing is left behind.
Scenario failed_start_at_each_step(const Setup& setup) {
  std::vector<Sighting> steps;
  for (const char* step : kStartSteps) steps.push_back({step});
  if (setup.strategy == ListenerStrategy::kPerWorker) steps.push_back({"setsockopt SO_REUSEPORT"});
  Scenario scenario = server_scenario("failed-start", setup, [setup, steps] {
    settings().faults = true;
    try {
      LineServer server = start_server(setup);
      settings().faults = false;
      server.shutdown();
    } catch (const NetworkError& error) {
      settings().faults = false;
      require(World::current().open_descriptors() == 0, "start", "a failed start leaves descriptors");
      require(Schedule::current()->alive() == 1, "start", "a failed start leaves threads");
      for (const Sighting& step : steps) *step.times += error.operation() == step.what ? 1U : 0U;
    }
  });
  scenario.about = std::move(steps);
  return scenario;
}

// One client more than there are places: it waits at the listener until another one leaves, and then no longer. With a
// listener each it needs only two that come to the same worker, and the kernel decides whether they do. Without the
// handoff: a push that meets its target's own accept may exceed the cap by one.
Scenario waits_for_a_place(Setup setup) {
  setup.cap = 1;
  setup.handoff = false;
  const bool shared = setup.strategy == ListenerStrategy::kShared;
  const Sighting waited{"waited for a place"};
  Scenario scenario = server_scenario("cap", setup, [setup, waited, shared] {
    const std::uint64_t places = shared ? 2 : 1;
    LineServer server = start_server(setup);
    std::vector<Client> clients;
    for (std::uint64_t i = 0; i <= places; ++i) clients.push_back(asking(server.addresses().front()));
    for (std::uint64_t i = 0; i < places; ++i) require_answer(clients[i]);
    settle();
    const bool waits = sum_of(server, &WorkerSnapshot::accepted) == places;
    require(waits || !shared, "scenario", "the last client does not wait");
    const SimTime before = Schedule::current()->now();
    if (waits) {
      require(sum_of(server, &WorkerSnapshot::accept_pauses) > 0, "scenario", "nobody pauses at the cap");
      clients.front().close();
      ++*waited.times;
    }
    require_answer(clients.back());
    require(Schedule::current()->now() - before < kMillisecond, "late", "a place that was left needed a timer");
    server.shutdown();
  });
  scenario.about = {waited};
  return scenario;
}

// No number is left when a client comes: accept fails with EMFILE. It is served when another client leaves.
Scenario no_descriptor(Setup setup) {
  setup.world.descriptors = 16;
  return server_scenario("emfile", setup, [setup] {
    LineServer server = start_server(setup);
    const SocketAddress address = server.addresses().front();
    Client first(address);
    serve_one(first);
    settle();
    const std::vector<int> taken = take_all_descriptors();
    Client second = asking(address);
    settle();
    require(sum_of(server, &WorkerSnapshot::accept_errors) > 0, "scenario", "accept did not fail");
    require(sum_of(server, &WorkerSnapshot::accepted) == 1, "scenario", "the second client does not wait");
    const SimTime before = Schedule::current()->now();
    first.close();
    require_answer(second);
    require(Schedule::current()->now() - before < kMillisecond, "late", "a descriptor that was left needed a timer");
    for (const int fd : taken) static_cast<void>(SystemKernel::close(fd));
    server.shutdown();
  });
}

// Two clients at once: a worker that accepts both hands one over, and its peer serves that one.
Scenario handed_over_and_served(const Setup& setup) {
  const Sighting handed{"handed over"};
  Scenario scenario = server_scenario("handoff", setup, [setup, handed] {
    LineServer server = start_server(setup);
    Client first = asking(server.addresses().front());
    Client second = asking(server.addresses().front());
    require_answer(first);
    require_answer(second);
    settle();  // a donor counts behind its push, when the client may have its answer already
    const std::uint64_t handed_out = sum_of(server, &WorkerSnapshot::handed_out);
    require(sum_of(server, &WorkerSnapshot::received) == handed_out, "handoff", "served by whom it was not handed to");
    *handed.times += handed_out;
    server.shutdown();
  });
  scenario.about = {handed};
  return scenario;
}

// One of two clients is handed over and leaves; a second later another one comes and may be handed over, when the timer
// looks that the first push has set. Nobody was stuck, so nothing is taken back.
Scenario handed_over_twice(Setup setup) {
  setup.poll_cap_ms = 100;  // a tick may begin just then
  const Sighting twice{"handed over again"};
  Scenario scenario = server_scenario("handed-over-twice", setup, [setup, twice] {
    LineServer server = start_server(setup);
    Client first = asking(server.addresses().front());
    Client second = asking(server.addresses().front());
    require_answer(first);
    require_answer(second);
    settle();
    const std::uint64_t once = sum_of(server, &WorkerSnapshot::handed_out);
    second.close();
    wait_for(999 * kMillisecond);
    Client third = asking(server.addresses().front());
    require_answer(third);
    settle();
    *twice.times += sum_of(server, &WorkerSnapshot::handed_out) == 2 && once == 1 ? 1U : 0U;
    require(sum_of(server, &WorkerSnapshot::taken_back) == 0, "handoff", "a token was taken back that had just come");
    server.shutdown();
  });
  scenario.about = {twice};
  return scenario;
}

// Just when one worker closes its queue a client comes to the other, and may be handed over.
Scenario push_meets_close(const Setup& setup) {
  const Sighting taken{"taken out of the closing queue"};
  const Sighting refused{"refused by the closed queue"};
  Scenario scenario = server_scenario("push-meets-close", setup, [setup, taken, refused] {
    LineServer server = start_server(setup);
    drain_with_late_client(server);
    *taken.times += sum_of(server, &WorkerSnapshot::received);
    *refused.times += sum_of(server, &WorkerSnapshot::refused);
  });
  scenario.about = {taken, refused};
  return scenario;
}

}  // namespace

std::vector<Scenario> limit_scenarios(const Setup& setup) {
  return {failed_start_at_each_step(setup), waits_for_a_place(setup), no_descriptor(setup),
          handed_over_and_served(setup),    push_meets_close(setup),  handed_over_twice(setup)};
}

std::vector<Scenario> deferred_limit_scenarios(const Setup& setup) {
  return {waits_for_a_place(setup), handed_over_and_served(setup)};
}

}  // namespace flare::sim
