// handoff.h: small scenarios of the product's queue and pool by themselves.
#pragma once

#include "engine/explorer.h"

namespace flare::sim {

// One thread: every result of a long script of calls is what a plain list would give.
Scenario queue_against_a_list();
// Two producers and one last slot.
Scenario queue_last_slot();
// A push and the final drain: the token is in exactly one hand.
Scenario queue_push_meets_close();
// One thread: who is chosen, and who is not.
Scenario pool_choices();
// A worker adopts what is queued while a peer reads its load: the connection is never in neither part of it.
Scenario pool_load_while_adopting();

}  // namespace flare::sim
