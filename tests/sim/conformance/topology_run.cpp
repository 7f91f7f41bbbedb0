#include "conformance/topology_run.h"

#include <deque>

#include "conformance/sleeper.h"

namespace flare::sim::conformance {

namespace {

constexpr int kBatch = Sleeper::kBatch;
constexpr int kNumbers = 24;

std::vector<std::uint64_t> seen_in(const epoll_event* events, int count) {
  std::vector<std::uint64_t> seen;
  for (int i = 0; i < count; ++i) seen.push_back(events[i].data.u64 * 65536 + events[i].events);
  return seen;
}

}  // namespace

TopologyResult run_real(RealWorld& world, const Topology& topology, std::uint32_t ip) {
  world.start(kNumbers);
  const Built built = build(world, topology, ip);
  std::deque<Sleeper> sleepers;
  for (const int set : topology.waiters) {
    sleepers.emplace_back(world.real(built.sets[static_cast<std::size_t>(set)]));
  }
  TopologyResult result;
  for (int event = 0; event < topology.events; ++event) {
    make_event(world, topology, built);
    // One that comes back may wake another: look until nobody came back in a whole round.
    for (bool moved = true; moved;) {
      const auto back = [&] {
        int count = 0;
        for (const Sleeper& sleeper : sleepers) count += sleeper.returned() ? 1 : 0;
        return count;
      };
      const int before = back();
      for (const Sleeper& sleeper : sleepers) sleeper.settle();
      moved = back() != before;
    }
    Woke woke;
    for (const Sleeper& sleeper : sleepers) {
      Woken& waiter = woke.emplace_back();
      waiter.returned = sleeper.returned();
      if (waiter.returned) waiter.seen = seen_in(sleeper.events(), sleeper.count());
    }
    result.push_back(woke);
  }
  return result;
}

TopologyResult run_simulated(MachineWorld& world, const Topology& topology, std::uint32_t ip) {
  world.start(kNumbers);
  Machine& machine = world.machine();
  const Built built = build(world, topology, ip);
  std::vector<int> waiting;
  for (const int set : topology.waiters) {
    waiting.push_back(machine.begin_wait(kServer, built.sets[static_cast<std::size_t>(set)]).value());
  }
  Woke woke(topology.waiters.size());
  TopologyResult result;
  for (int event = 0; event < topology.events; ++event) {
    make_event(world, topology, built);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (waiting[i] == kNone || !machine.woken(waiting[i])) continue;
        moved = true;
        epoll_event events[kBatch];
        const int count = machine.wait_take(waiting[i], events, kBatch).value();
        machine.end_wait(waiting[i]);
        waiting[i] = kNone;
        if (count > 0) {
          woke[i] = Woken{true, seen_in(events, count)};
        } else {
          const int set = built.sets[static_cast<std::size_t>(topology.waiters[i])];
          waiting[i] = machine.begin_wait(kServer, set).value();
        }
      }
    }
    result.push_back(woke);
  }
  return result;
}

}  // namespace flare::sim::conformance
