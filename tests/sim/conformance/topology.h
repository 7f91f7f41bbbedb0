// topology.h: who waits where for what: sets, what they hold, threads inside epoll_wait, and events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/world.h"

namespace flare::sim::conformance {

enum class Source : std::uint8_t { kEventfd, kListener, kPair };

inline constexpr int kTheSource = -1;

// One registration: a set holds the source or another set.
struct Hold {
  int set = 0;
  int target = kTheSource;
  std::uint32_t events = 0;
};

struct Topology {
  std::string name;
  Source source = Source::kEventfd;
  int sets = 1;
  std::vector<Hold> holds;
  std::vector<int> waiters;  // the set of each, in the order in which they fall asleep
  int events = 1;
};

std::vector<Topology> all_topologies();

// What one event did to one waiter.
struct Woken {
  bool returned = false;
  std::vector<std::uint64_t> seen;  // each hold's place times 65536, and the bits
  bool operator==(const Woken&) const = default;
};
using Woke = std::vector<Woken>;           // of each waiter
using TopologyResult = std::vector<Woke>;  // after each event

std::string describe(const TopologyResult& result);

// Numbers of a topology that was built in one of the two kernels.
struct Built {
  std::vector<int> sets;
  int source = -1;
  int writer = -1;  // what an event is made with
};
Built build(World& world, const Topology& topology, std::uint32_t ip);
void make_event(World& world, const Topology& topology, const Built& built);

}  // namespace flare::sim::conformance
