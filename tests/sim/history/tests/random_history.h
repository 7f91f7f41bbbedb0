// random_history.h: small histories of a queue that is right, or wrong in one of many ways.
#pragma once

#include <cstddef>
#include <cstdint>

#include "history/history.h"
#include "history/long_history.h"

namespace flare::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9E37'79B9'7F4A'7C15U;
    mixed = (mixed ^ mixed >> 30) * 0xBF58'476D'1CE4'E5B9U;
    mixed = (mixed ^ mixed >> 27) * 0x94D0'49BB'1331'11EBU;
    return mixed ^ mixed >> 31;
  }
  unsigned below(unsigned bound) { return static_cast<unsigned>((next() >> 32) * bound >> 32); }
  bool one_in(unsigned chances) { return below(chances) == 0; }

 private:
  std::uint64_t state_;
};

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
