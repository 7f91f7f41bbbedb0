// scenarios.h: small scenarios over the product's own parts, each of which relies on a few memory orders.
//
// What one thread does before is a Checked field: a use that nothing orders fails the schedule. Or it is a promise that
// a stale value breaks.
#pragma once

#include <vector>

#include "engine/explorer.h"

namespace flare::sim {

std::vector<Scenario> weak_order_scenarios();
std::vector<Scenario> part_scenarios();   // queue, pool, cells
std::vector<Scenario> group_scenarios();  // threads of workers, the whole server

}  // namespace flare::sim
