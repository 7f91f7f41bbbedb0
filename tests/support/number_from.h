// number_from.h: a number that a variable of the environment may set for a test.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace flare::testing {

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace flare::testing
