// dice.h: random numbers of a mutator, from the one seed that libFuzzer gives it (splitmix64).
#pragma once

#include <cstddef>
#include <cstdint>

namespace flare::fuzz {

class Dice {
 public:
  explicit Dice(unsigned seed) : state_(seed) {}
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(next() % bound); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(next()); }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

}  // namespace flare::fuzz
