// model_queue.h: the state of the search: the operations whose values are inside, oldest first, and whether closed.
// An operation's number stands for the value that it pushed, so a state needs no values and no memory of its own.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace flare::sim {

// For histories of at most 15 operations: the whole state is one word, four bits for each place.
class PackedQueue {
 public:
  static constexpr unsigned kMost = 15;

  unsigned size() const { return size_; }
  bool is_closed() const { return (word_ & kClosed) != 0; }
  // 0 is the oldest.
  unsigned at(unsigned place) const { return static_cast<unsigned>(word_ >> (4 * place) & 15) - 1; }
  void push(unsigned operation) {
    word_ |= std::uint64_t{operation + 1} << (4 * size_);
    ++size_;
  }
  void pop() {
    word_ = (word_ & kClosed) | ((word_ & ~kClosed) >> 4);
    --size_;
  }
  void clear() {
    word_ &= kClosed;
    size_ = 0;
  }
  void close() { word_ |= kClosed; }

  std::uint64_t hash() const { return word_; }
  bool operator==(const PackedQueue& other) const { return word_ == other.word_; }

 private:
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
  std::uint64_t word_ = 0;
  unsigned size_ = 0;
};

// For up to 64 operations: a byte for each place. Bytes above size() are 0.
class WideQueue {
 public:
  static constexpr unsigned kMost = 64;

  unsigned size() const { return size_; }
  bool is_closed() const { return closed_; }
  unsigned at(unsigned place) const { return bytes_[place]; }
  void push(unsigned operation) { bytes_[size_++] = static_cast<std::uint8_t>(operation); }
  void pop() {
    --size_;
    std::memmove(bytes_.data(), bytes_.data() + 1, size_);
    bytes_[size_] = 0;
  }
  void clear() {
    bytes_.fill(0);
    size_ = 0;
  }
  void close() { closed_ = true; }

  std::uint64_t hash() const {
    std::uint64_t hash = size_ * 2U + (closed_ ? 1U : 0U);
    for (unsigned at = 0; at < size_; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes_.data() + at, 8);
      hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15U;
      hash ^= hash >> 29;
    }
    return hash;
  }
  bool operator==(const WideQueue& other) const {
    return size_ == other.size_ && closed_ == other.closed_ &&
           std::memcmp(bytes_.data(), other.bytes_.data(), size_) == 0;
  }

 private:
  std::array<std::uint8_t, kMost> bytes_{};
  std::uint8_t size_ = 0;
  bool closed_ = false;
};

}  // namespace flare::sim
