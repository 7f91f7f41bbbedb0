// lifecycle.h: the scenarios of a server's life with two workers and two connections, by name.
#pragma once

#include <vector>

#include "scenarios/server_world.h"

namespace flare::sim {

// For one listener strategy: each ends the server in another way.
std::vector<Scenario> lifecycle_scenarios(ListenerStrategy strategy);
// Those of them that are about a limit: a failed start, the cap, no descriptor, a push that races a stop. Bare names.
std::vector<Scenario> limit_scenarios(const Setup& setup);
// Those of the limits in which clients speak: for a setup that defers.
std::vector<Scenario> deferred_limit_scenarios(const Setup& setup);

}  // namespace flare::sim
