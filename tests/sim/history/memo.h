// memo.h: the set of dead ends of a search: (operations done, state). Exact: entries are compared whole.
// Bounds: no memory before the first dead end; grows with the search and keeps what it has; clear() costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flare::sim {

// kStateless leaves the state out of the key: a defect that the tests ask for.
template <class Queue, bool kStateless = false>
class Memo {
 public:
  void clear() {
    size_ = 0;
    if (++round_ != 0) return;
    for (Slot& slot : slots_) slot.round = 0;  // the number of the round came round
    round_ = 1;
  }
  bool contains(std::uint64_t done, const Queue& queue) const {
    return size_ != 0 && slots_[find(done, queue)].round == round_;
  }
  // False if it is there already.
  bool insert(std::uint64_t done, const Queue& queue) {
    if (size_ * 2 >= slots_.size()) grow();
    const std::size_t at = find(done, queue);
    if (slots_[at].round == round_) return false;
    slots_[at] = Slot{done, queue, round_};
    ++size_;
    return true;
  }

 private:
  static constexpr std::size_t kFirst = 64;  // a power of two, as every size after it
  struct Slot {
    std::uint64_t done = 0;
    Queue queue;
    std::uint32_t round = 0;  // the slot is used if this is the memo's round
  };

  std::size_t find(std::uint64_t done, const Queue& queue) const {
    std::uint64_t hash = done * 0xD6E8'FEB8'6659'FD93U;
    if constexpr (!kStateless) hash = (hash ^ queue.hash() ^ hash >> 32) * 0xD6E8'FEB8'6659'FD93U;
    std::size_t at = (hash >> 32) & (slots_.size() - 1);
    while (slots_[at].round == round_ && !is_same(slots_[at], done, queue)) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  static bool is_same(const Slot& slot, std::uint64_t done, const Queue& queue) {
    return slot.done == done && (kStateless || slot.queue == queue);
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? kFirst : slots_.size() * 2);
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.round == round_) slots_[find(slot.done, slot.queue)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  std::uint32_t round_ = 1;
};

}  // namespace flare::sim
