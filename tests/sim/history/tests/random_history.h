// random_history.h: small histories of a queue that is right, or wrong in one of many ways.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/random.h"
#include "history/history.h"
#include "history/long_history.h"

namespace flare::sim {

inline bool one_in(Random& random, unsigned chances) {
  return random.below(chances) == 0;
}

struct Shape {
  unsigned threads = 3;
  unsigned operations = 7;
  std::size_t capacity = 2;
  bool push_and_pop_only = false;
  bool pending = false;       // some operations never return
  bool equal_values = false;  // values may be pushed again
  bool quiescent = false;     // now and then all operations end
};

// Of all kinds; which one, random decides.
Shape random_shape(Random& random);
// At most 7 operations of push and pop, unique values, unbounded, all complete.
Shape unbounded_shape(Random& random);

void random_history(Random& random, const Shape& shape, History& out);

LongHistory as_long(const History& history);

}  // namespace flare::sim
