// mix.h: one word more into a hash.
#pragma once

#include <cstdint>

namespace flare::sim {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9ddfea08eb382d69U;
  return hash ^ (hash >> 47);
}

}  // namespace flare::sim
