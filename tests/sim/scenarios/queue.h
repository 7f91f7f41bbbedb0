// queue.h: the product's queue under producers and a consumer.
#pragma once

#include <vector>

#include "engine/explorer.h"

namespace flare::sim {

// Two producers and one consumer, four operations each, for capacities 1, 2 and 3.
std::vector<Scenario> queue_scenarios();

}  // namespace flare::sim
