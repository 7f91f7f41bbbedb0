// accept_pace.h: how many clients a pass takes from a listener before it leaves the rest to the poller.    Internal.
// Threads:    the owning worker.
// Owns:       nothing.
// Bounds:     1 to most.
// Errors:     none.
// Ordering:   none.
// Invariants: INV-17: only for a listener that its own poller reports again while anybody waits.
// Not here:   accepting (acceptor.h).
// Source:     own design: where clients come one by one, every second accept finds nobody, and the poller, which is
//             asked next in any case, says the same for nothing.
#pragma once

#include <algorithm>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

class AcceptPace {
 public:
  int enough() const { return enough_; }

  // A pass took enough(), and did not ask whether there are more. After some of these it is time to ask.
  void took_enough(int most) {
    if (++unasked_ >= kBelieved) enough_ = std::min(2 * enough_, most);
  }
  // A pass found nobody behind this many.
  void found_end(int taken) {
    enough_ = std::max(taken - 1, 1);
    unasked_ = 0;
  }

 private:
  static constexpr int kBelieved = 8;

  int enough_ = 1;
  int unasked_ = 0;
};

}  // namespace flare::inline FLARE_ABI
