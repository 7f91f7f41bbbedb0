// tape.h: an input as operations of three bytes each: what, and two arguments. A rest of one or two bytes is no
// operation. Whatever stands in the bytes is a valid tape, so a mutation of whole operations never destroys one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace flare::fuzz {

inline constexpr std::size_t kOpBytes = 3;
inline constexpr std::size_t kMaxOps = 256;

struct Op {
  std::uint8_t code = 0;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
};

class Tape {
 public:
  Tape(const std::uint8_t* data, std::size_t size) : data_(data), size_(std::min(size / kOpBytes, kMaxOps)) {}
  std::size_t size() const { return size_; }
  Op operator[](std::size_t i) const {
    const std::uint8_t* at = data_ + i * kOpBytes;
    return {at[0], at[1], at[2]};
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace flare::fuzz
