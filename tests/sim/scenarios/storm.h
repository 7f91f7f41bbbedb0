// storm.h: the large scenarios: four workers, eight clients, and endings that the schedule chooses.
#pragma once

#include <vector>

#include "scenarios/server_world.h"

namespace flare::sim {

// Clients that come, ask and go; a stop of any kind meets them. For random schedules.
std::vector<Scenario> storm_scenarios(ListenerStrategy strategy);
// Faults of every call for a while; then they end, all clients must be served, and the stop must finish.
std::vector<Scenario> chaos_scenarios(ListenerStrategy strategy);

}  // namespace flare::sim
