// topology_run.h: a topology on the real kernel, with real threads, and on the simulated one.
#pragma once

#include "conformance/machine_world.h"
#include "conformance/real_world.h"
#include "conformance/topology.h"

namespace flare::sim::conformance {

TopologyResult run_real(RealWorld& world, const Topology& topology, std::uint32_t ip);
TopologyResult run_simulated(MachineWorld& world, const Topology& topology, std::uint32_t ip);

}  // namespace flare::sim::conformance
