// crash_trap.h: what would end the process inside a schedule is a failure of that schedule: reported, replayed.
// Threads:    one real thread.
// Not here:   an access to no memory in builds with a sanitizer, whose own report says more.
#pragma once

namespace flare::sim {

// Host; more than once does no harm.
void trap_crashes();
// False: a sanitizer ends the process at what it finds, before an oracle could say so.
bool survives_misused_memory();

}  // namespace flare::sim
