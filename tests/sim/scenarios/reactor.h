// reactor.h: small scenarios of the product's reactor by itself, over the simulated kernel.
#pragma once

#include "engine/explorer.h"

namespace flare::sim {

// One thread: events come once, go with their registration, and -1 waits.
Scenario reactor_rules();
// Inside one batch a descriptor is closed, its number and its slot are used again.
Scenario reactor_reuse_in_batch();
// Two reactors watch one listener exclusively: one is woken for one client.
Scenario reactor_exclusive();
// A wait that a signal ends is no failure.
Scenario reactor_interrupted();

}  // namespace flare::sim
