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
#include <cstdint>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

class AcceptPace {
 public:
  int enough() const { return enough_; }

  // A pass took enough(). One that is reported again and again right behind such a pass has more than was thought.
  void took_enough(std::uint64_t tick, int most) {
    again_ = tick == last_tick_ + 1 ? again_ + 1 : 0;
    last_tick_ = tick;
    if (again_ >= kBelieved) enough_ = std::min(2 * enough_, most);
  }
  // A pass found nobody behind this many.
  void found_end(int taken) {
    enough_ = std::max(taken - 1, 1);
    again_ = 0;
  }

 private:
  static constexpr int kBelieved = 2;

  int enough_ = 1;
  int again_ = 0;
  std::uint64_t last_tick_ = 0;
};

}  // namespace flare::inline FLARE_ABI
