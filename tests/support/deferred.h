// deferred.h: some tests run once more with deferred accept (flare_test's DEFERRED): what their servers then ask for.
#pragma once

#include <cstdlib>

namespace flare::testing {

// For ListenerOptions::defer_accept_s.
inline int defer_accept_s() {
  return std::getenv("FLARE_TEST_DEFER") != nullptr ? 1 : 0;
}

}  // namespace flare::testing
