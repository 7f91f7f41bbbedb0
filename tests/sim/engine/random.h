// random.h: a small seeded generator: a schedule's own, cheap to seed.
// Source: the SplitMix64 sequence (public domain constants of its authors).
#pragma once

#include <cstdint>

namespace flare::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed = 0) : state_(seed) {}
  void seed(std::uint64_t value) { state_ = value; }
  std::uint64_t next() {
    std::uint64_t word = state_ += 0x9e3779b97f4a7c15U;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
  }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(next() % bound); }
  // 0 to 1, without 1.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace flare::sim
