// name.h: a literal with its hash: what a trace and a choice are called.
#pragma once

#include <cstdint>

namespace flare::sim {

// The hash is of the text, not of its address: the same in every process.
class Name {
 public:
  template <unsigned long Size>
  consteval Name(const char (&text)[Size]) : text_(text) {  // NOLINT(google-explicit-constructor)
    for (unsigned long i = 0; i + 1 < Size; ++i) hash_ = (hash_ ^ static_cast<unsigned char>(text[i])) * 1099511628211U;
  }
  constexpr Name() = default;

  const char* text() const { return text_; }
  std::uint64_t hash() const { return hash_; }

 private:
  const char* text_ = "";
  std::uint64_t hash_ = 14695981039346656037U;
};

}  // namespace flare::sim
