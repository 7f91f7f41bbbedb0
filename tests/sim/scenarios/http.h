// http.h: the product's HttpFrontend in a server of two workers: every byte that comes back is as it must be.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/server_world.h"

namespace flare::sim {

// For one listener strategy: a connection that is handed over, and three ways in which a drain meets requests.
std::vector<Scenario> http_scenarios(ListenerStrategy strategy);

// Which listener gets a client is the kernel's pick, so not every schedule hands over: how many of them did. On the
// host.
struct HandoffTally {
  std::uint64_t ended = 0;  // schedules that were not left early
  std::uint64_t handed_over = 0;
};
HandoffTally& handoff_tally();

}  // namespace flare::sim
