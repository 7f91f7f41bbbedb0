// assert.h: a broken invariant ends the process, in release too.                      Public header.
// Threads:    any.
// Owns:       nothing.
// Bounds:     none.
// Errors:     prints file, line, condition and reason to stderr, then aborts.
// Ordering:   none.
// Invariants: none of its own; it is how the others are enforced.
// Not here:   errors of users or of the kernel (base/network_error.h, base/result.h).
// Source:     own design.
#pragma once

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

// Any thread. Never returns.
[[noreturn]] void assertion_failed(const char* file, int line, const char* condition, const char* reason);

}  // namespace flare::inline FLARE_ABI

#define FLARE_ASSERT(condition, reason) \
  ((condition) ? static_cast<void>(0) : ::flare::assertion_failed(__FILE__, __LINE__, #condition, reason))
