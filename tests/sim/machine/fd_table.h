// fd_table.h: the numbers of one process: always the lowest free one, free again at once.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "machine/pool.h"

namespace flare::sim {

class FdTable {
 public:
  void reset(int limit) {
    for (const std::uint64_t word : used_) {
      if (word != 0) {
        used_.assign(used_.size(), 0);
        break;
      }
    }
    limit_ = limit;
    count_ = 0;
    grow();
  }
  void set_limit(int limit) {
    limit_ = limit;
    grow();
  }

  // kNone: every number below the limit is used.
  int lowest_free() const {
    for (std::size_t word = 0; word < used_.size(); ++word) {
      if (used_[word] == ~std::uint64_t{0}) continue;
      const int fd = static_cast<int>(word) * 64 + std::countr_one(used_[word]);
      return fd < limit_ ? fd : kNone;
    }
    return kNone;
  }
  void put(int fd, int description, bool close_on_exec) {
    entries_[static_cast<std::size_t>(fd)] = Entry{description, close_on_exec};
    used_[static_cast<std::size_t>(fd) / 64] |= bit(fd);
    ++count_;
  }
  void remove(int fd) {
    used_[static_cast<std::size_t>(fd) / 64] &= ~bit(fd);
    --count_;
  }
  bool has(int fd) const {
    return fd >= 0 && static_cast<std::size_t>(fd) < entries_.size() &&
           (used_[static_cast<std::size_t>(fd) / 64] & bit(fd)) != 0;
  }
  int description(int fd) const { return has(fd) ? entries_[static_cast<std::size_t>(fd)].description : kNone; }
  bool close_on_exec(int fd) const { return has(fd) && entries_[static_cast<std::size_t>(fd)].close_on_exec; }
  int count() const { return count_; }
  int size() const { return static_cast<int>(entries_.size()); }

 private:
  struct Entry {
    int description = kNone;
    bool close_on_exec = false;
  };
  static std::uint64_t bit(int fd) { return std::uint64_t{1} << (static_cast<unsigned>(fd) % 64); }
  // A lower limit takes no number away.
  void grow() {
    const auto words = static_cast<std::size_t>(limit_ + 63) / 64;
    if (words > used_.size()) used_.resize(words, 0);
    if (words * 64 > entries_.size()) entries_.resize(words * 64);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint64_t> used_;
  int limit_ = 0;
  int count_ = 0;
};

}  // namespace flare::sim
