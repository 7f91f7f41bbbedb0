// state_table.h: the states that an enumeration met, with the preemptions that were left.
// Bounds:     16 bytes for each state, doubled when it is two thirds full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flare::sim {

class StateTable {
 public:
  StateTable() : entries_(1 << 12) {}

  // False: the state was met before with as many preemptions left, or more.
  bool enter(std::uint64_t state, int left) {
    if (state == 0) state = 1;
    if ((size_ + 1) * 3 > entries_.size() * 2) grow();
    Entry& entry = find(entries_, state);
    if (entry.state == state && entry.left >= left) return false;
    if (entry.state == 0) ++size_;
    entry = {state, left};
    return true;
  }
  std::size_t size() const { return size_; }

 private:
  struct Entry {
    std::uint64_t state = 0;
    int left = 0;
  };

  static Entry& find(std::vector<Entry>& entries, std::uint64_t state) {
    const std::size_t mask = entries.size() - 1;
    std::size_t at = (state * 0x9e3779b97f4a7c15U >> 20) & mask;
    while (entries[at].state != 0 && entries[at].state != state) at = (at + 1) & mask;
    return entries[at];
  }
  void grow() {
    std::vector<Entry> larger(entries_.size() * 2);
    for (const Entry& one : entries_) {
      if (one.state != 0) find(larger, one.state) = one;
    }
    entries_ = std::move(larger);
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace flare::sim
