// stopping.h: small scenarios of starting and stopping.
#pragma once

#include "scenarios/server_world.h"

namespace flare::sim {

// A server without clients has drained when the grace is over.
Scenario drain_of_an_idle_server();
// A client comes to a worker that still accepts, when its peer just stops to: the body of late_client_in_drain, and of
// who counts what came of it.
void drain_with_late_client(LineServer& server);
Scenario late_client_in_drain();
// A drain without time waits for a handler that ends later.
Scenario drain_zero_awaits_handler();
// A request to stop and a stop that frees what the request uses.
Scenario request_meets_shutdown();
// What the control thread wrote before a stop is what a worker sees after it.
Scenario stop_publishes();
// A start of which a call fails leaves nothing behind.
Scenario failed_start();
// A shutdown while clients come; each number that is given back is a stranger's at once.
Scenario shutdown_among_strangers();

}  // namespace flare::sim
