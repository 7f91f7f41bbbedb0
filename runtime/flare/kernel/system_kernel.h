// system_kernel.h: the door to the operating system: which backend this build uses.   Public header.
// Threads:    as the backend says.
// Owns:       nothing.
// Bounds:     none.
// Errors:     as the backend says.
// Ordering:   as the backend says.
// Invariants: every system call, clock and random number of runtime/ goes through SystemKernel.
// Not here:   threads and the environment (base/sync.h).
// Source:     seeds, flare.runtime.reactor: "one struct, compile-time dispatched backend".
#pragma once

#ifdef FLARE_MODEL
#include "flare_model/system_kernel_model.h"
#else
#include "flare/kernel/epoll_kernel.h"

namespace flare::inline FLARE_ABI {

using SystemKernel = EpollKernel;

}  // namespace flare::inline FLARE_ABI
#endif
