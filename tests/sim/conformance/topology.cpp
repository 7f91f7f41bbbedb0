#include "conformance/topology.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>

#include <cstring>

namespace flare::sim::conformance {

namespace {

struct Mode {
  const char* name;
  std::uint32_t events;
};
constexpr Mode kModesOfHolds[] = {{"level", EPOLLIN},
                                  {"edge", EPOLLIN | EPOLLET},
                                  {"exclusive", EPOLLIN | EPOLLEXCLUSIVE},
                                  {"exclusive edge", EPOLLIN | EPOLLEXCLUSIVE | EPOLLET},
                                  {"oneshot", EPOLLIN | EPOLLONESHOT}};

constexpr struct {
  const char* name;
  Source source;
} kSources[] = {{"eventfd", Source::kEventfd}, {"listener", Source::kListener}, {"pair", Source::kPair}};

using Grid = std::vector<Topology>;

void add(Grid& grid, const std::string& name, const Topology& shape) {
  for (const auto& source : kSources) {
    for (int events = 1; events <= 2; ++events) {
      Topology topology = shape;
      topology.name = name + ", " + source.name + ", " + std::to_string(events) + (events == 1 ? " event" : " events");
      topology.source = source.source;
      topology.events = events;
      grid.push_back(topology);
    }
  }
}

// Sets side by side; a waiter in those that are named.
Topology flat(int sets, const std::vector<int>& waiters, std::uint32_t events) {
  Topology topology;
  topology.sets = sets;
  for (int set = 0; set < sets; ++set) topology.holds.push_back({set, kTheSource, events});
  topology.waiters = waiters;
  return topology;
}

void add_flat(Grid& grid, const Mode& mode) {
  const std::string name = mode.name;
  add(grid, name + ", one set, one waiter", flat(1, {0}, mode.events));
  add(grid, name + ", one set, two waiters", flat(1, {0, 0}, mode.events));
  add(grid, name + ", one set, three waiters", flat(1, {0, 0, 0}, mode.events));
  add(grid, name + ", two sets", flat(2, {0, 1}, mode.events));
  add(grid, name + ", two sets, the later waits first", flat(2, {1, 0}, mode.events));
  add(grid, name + ", three sets", flat(3, {0, 1, 2}, mode.events));
  add(grid, name + ", three sets, a waiter in the last", flat(3, {2}, mode.events));
  add(grid, name + ", three sets, a waiter in the second", flat(3, {1}, mode.events));
  add(grid, name + ", two sets, two waiters in the first", flat(2, {0, 0, 1}, mode.events));
  Topology mixed = flat(3, {0, 1, 2}, mode.events);
  mixed.holds[1].events = EPOLLIN;
  add(grid, name + ", three sets, the second is level", mixed);
}

// Set 0 holds the source, the others hold set 0.
Topology nested(int outer, const std::vector<int>& waiters, std::uint32_t inner_events, std::uint32_t outer_events) {
  Topology topology;
  topology.sets = 1 + outer;
  topology.holds.push_back({0, kTheSource, inner_events});
  for (int set = 1; set <= outer; ++set) topology.holds.push_back({set, 0, outer_events});
  topology.waiters = waiters;
  return topology;
}

void add_nested(Grid& grid, const Mode& inner, const Mode& outer) {
  const std::string name = std::string(inner.name) + " inside " + outer.name;
  add(grid, name + ", one waiter", nested(1, {1}, inner.events, outer.events));
  add(grid, name + ", two waiters", nested(1, {1, 1}, inner.events, outer.events));
  add(grid, name + ", two outer sets", nested(2, {1, 2}, inner.events, outer.events));
  Topology chain = nested(1, {2}, inner.events, outer.events);
  chain.sets = 3;
  chain.holds.push_back({2, 1, outer.events});
  add(grid, name + ", a set around it", chain);
  // A waiter inside as well: only where its taking leaves the inner set as it was, or both race for it.
  if (inner.events != EPOLLIN) return;
  add(grid, name + ", a waiter inside", nested(1, {0, 1}, inner.events, outer.events));
  add(grid, name + ", the outer one waits first", nested(1, {1, 0}, inner.events, outer.events));
}

sockaddr_storage address_of(std::uint32_t ip) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(ip);
  sockaddr_storage out{};
  std::memcpy(&out, &in, sizeof in);
  return out;
}

void open_source(World& world, Source source, std::uint32_t ip, Built& built) {
  if (source == Source::kEventfd) {
    built.source = world.eventfd(0, EFD_NONBLOCK).value();
    built.writer = built.source;
  } else if (source == Source::kPair) {
    int ends[2];
    static_cast<void>(world.socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, ends));
    built.source = ends[0];
    built.writer = ends[1];
  } else {
    built.source = world.socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK).value();
    static_cast<void>(world.bind(built.source, address_of(ip), sizeof(sockaddr_in)));
    static_cast<void>(world.listen(built.source, 8));
  }
}

}  // namespace

std::vector<Topology> all_topologies() {
  Grid grid;
  for (const Mode& mode : kModesOfHolds) {
    add_flat(grid, mode);
    for (const Mode& outer : kModesOfHolds) {
      if ((outer.events & EPOLLEXCLUSIVE) == 0) add_nested(grid, mode, outer);
    }
  }
  return grid;
}

Built build(World& world, const Topology& topology, std::uint32_t ip) {
  Built built;
  for (int i = 0; i < topology.sets; ++i) built.sets.push_back(world.epoll_create(0).value());
  open_source(world, topology.source, ip, built);
  for (std::size_t i = 0; i < topology.holds.size(); ++i) {
    const Hold& hold = topology.holds[i];
    const int target = hold.target == kTheSource ? built.source : built.sets[static_cast<std::size_t>(hold.target)];
    static_cast<void>(
        world.epoll_ctl(built.sets[static_cast<std::size_t>(hold.set)], EPOLL_CTL_ADD, target, hold.events, i));
  }
  return built;
}

void make_event(World& world, const Topology& topology, const Built& built) {
  if (topology.source == Source::kEventfd) {
    const std::uint64_t one = 1;
    static_cast<void>(world.write(built.writer, &one, sizeof one));
  } else if (topology.source == Source::kPair) {
    static_cast<void>(world.send(built.writer, "x", 1));
  } else {
    sockaddr_storage name{};
    static_cast<void>(world.getsockname(built.source, &name));
    const int client = world.socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK).value();
    static_cast<void>(world.connect(client, name, sizeof(sockaddr_in)));
  }
}

std::string describe(const TopologyResult& result) {
  std::string text;
  for (const Woke& event : result) {
    text += "[";
    for (const Woken& waiter : event) {
      text += waiter.returned ? " woke(" : " asleep";
      for (const std::uint64_t seen : waiter.seen) {
        text += std::to_string(seen >> 16) + ":" + std::to_string(seen & 0xffff) + " ";
      }
      if (waiter.returned) text += ")";
    }
    text += " ]";
  }
  return text;
}

}  // namespace flare::sim::conformance
