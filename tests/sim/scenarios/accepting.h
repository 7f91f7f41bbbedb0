// accepting.h: small scenarios of accepting, handing over and waking: who is served, and that it took no timer.
#pragma once

#include "scenarios/server_world.h"

namespace flare::sim {

// Three clients at once: who accepts more than one hands over.
Scenario handed_over();
// A client is handed to a worker that just finds that it has nothing left to do.
Scenario handed_to_one_that_falls_asleep();
// The same for a worker that is asked to accept.
Scenario asked_as_it_falls_asleep();
// A client comes as a worker is about to run a handler that sticks.
Scenario handler_sticks();
// The same with a budget of one and two clients, whose wakes both went to that worker.
Scenario budget_spent();
// One worker got the wakes of two clients and has one place: its peer serves the other one.
Scenario cap_reached();
// All are at their cap; the place that one client leaves is the next one's.
Scenario place_freed();
// The place is left while a worker with its own listener finds that it has none, and pauses.
Scenario place_freed_meanwhile();
// One worker at its cap pauses, resumes, and still listens.
Scenario resumed();
// No descriptor is left until a client of either worker leaves.
Scenario descriptor_freed_by_client();
// No descriptor is left until a thread of the embedding program closes one, of which nobody tells.
Scenario descriptor_freed_by_stranger();
// A token stands in the queue of a worker that is stuck.
Scenario taken_back();
// The same, and the server is shut down.
Scenario cut_with_queued_token();
// A worker crashes when its listener's clients, and a shared listener's wake, are still its own.
Scenario crash_with_waiting_client();
Scenario crash_with_shared_wake();
// At rest each worker's load is what it serves; when all clients left it is 0.
Scenario loads_at_rest();

}  // namespace flare::sim
