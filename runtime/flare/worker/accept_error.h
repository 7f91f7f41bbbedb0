// accept_error.h: what an errno of accept(2) means for whoever calls it.              Internal.
// Threads:    any; a pure function.
// Owns:       nothing.
// Bounds:     none.
// Errors:     none.
// Ordering:   none.
// Invariants: INV-18.
// Not here:   what to do about it (acceptor.h, worker_exit.h).
// Source:     accept(2), "Error handling"; decision 16.
#pragma once

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

enum class AcceptError {
  kEmpty,          // nobody waits
  kOneConnection,  // this connection's misfortune: try the next one
  kNoResources,    // no descriptor or memory now
  kListener,       // the listener itself is disabled or broken
};

AcceptError accept_error(int error);

}  // namespace flare::inline FLARE_ABI
