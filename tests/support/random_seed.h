// random_seed.h: the seed of a random test, printed with the line that replays it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace flare::testing {

// FLARE_TEST_SEED, else a fresh one.
inline std::uint64_t random_seed(const char* program, const char* filter) {
  const char* given = std::getenv("FLARE_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("seed: FLARE_TEST_SEED=%llu %s --gtest_filter='%s'\n", static_cast<unsigned long long>(seed), program,
              filter);
  return seed;
}

}  // namespace flare::testing
