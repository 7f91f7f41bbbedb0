// byte_queue.h: the bytes that one end of a connection sent and the other has not read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace flare::sim {

class ByteQueue {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() {
    head_ = 0;
    size_ = 0;
    pieces_.clear();
    first_piece_ = 0;
  }

  void push(const char* data, std::size_t size) {
    if (size == 0) return;
    if (size_ + size > bytes_.size()) grow(size_ + size);
    const std::size_t tail = (head_ + size_) % bytes_.size();
    const std::size_t first = std::min(size, bytes_.size() - tail);
    std::memcpy(bytes_.data() + tail, data, first);
    std::memcpy(bytes_.data(), data + first, size - first);
    size_ += size;
  }
  std::size_t pop(char* out, std::size_t size) {
    size = std::min(size, size_);
    if (size == 0) return 0;
    const std::size_t first = std::min(size, bytes_.size() - head_);
    std::memcpy(out, bytes_.data() + head_, first);
    std::memcpy(out + first, bytes_.data(), size - first);
    head_ = (head_ + size) % bytes_.size();
    size_ -= size;
    return size;
  }
  // Forgets what was pushed last.
  void truncate(std::size_t size) { size_ = std::min(size_, size); }

  // A local socket's kernel frees its sender's memory message by message, so it keeps the borders.
  void end_piece(std::size_t size) { pieces_.push_back(size); }
  // How many messages were read to their end by a read of size bytes.
  unsigned consume_pieces(std::size_t size) {
    unsigned freed = 0;
    while (size > 0 && first_piece_ < pieces_.size()) {
      const std::size_t part = std::min(size, pieces_[first_piece_]);
      pieces_[first_piece_] -= part;
      size -= part;
      if (pieces_[first_piece_] != 0) break;
      ++first_piece_;
      ++freed;
    }
    if (first_piece_ == pieces_.size()) {
      pieces_.clear();
      first_piece_ = 0;
    }
    return freed;
  }
  unsigned pieces() const { return static_cast<unsigned>(pieces_.size() - first_piece_); }

 private:
  void grow(std::size_t size) {
    std::vector<char> larger(std::max<std::size_t>(size * 2, 256));
    const std::size_t kept = size_;
    pop(larger.data(), kept);
    bytes_.swap(larger);
    head_ = 0;
    size_ = kept;
  }

  std::vector<char> bytes_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  std::vector<std::size_t> pieces_;
  std::size_t first_piece_ = 0;
};

}  // namespace flare::sim
