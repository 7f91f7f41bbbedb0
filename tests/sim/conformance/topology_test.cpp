// In every topology of sets and sleeping threads an event wakes the same threads on this kernel and on the simulated.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "conformance/topology_run.h"

namespace flare::sim::conformance {
namespace {

constexpr std::size_t kLeast = 60;

TEST(Conformance, EachWakeupTopologyWakesTheSameThreads) {
  RealWorld real;
  CalmChooser calm;
  MachineWorld simulated(calm);
  const std::vector<Topology> topologies = all_topologies();
  ASSERT_GE(topologies.size(), kLeast);
  std::uint32_t ip = 0x7f0f0001;
  for (const Topology& topology : topologies) {
    const TopologyResult expected = run_real(real, topology, ip);
    const TopologyResult actual = run_simulated(simulated, topology, ip);
    EXPECT_EQ(describe(expected), describe(actual)) << topology.name;
    ++ip;
  }
  std::printf("%zu topologies\n", topologies.size());
}

}  // namespace
}  // namespace flare::sim::conformance
