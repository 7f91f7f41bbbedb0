#include "flare/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace flare::inline FLARE_ABI {

void assertion_failed(const char* file, int line, const char* condition, const char* reason) {
  std::fprintf(stderr, "flare: %s:%d: broken invariant: %s (%s)\n", file, line, reason, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace flare::inline FLARE_ABI
