// atomic_word.h: an atomic of the model: its value, what its stores publish and, in weak scenarios, its older stores.
// Threads:    threads of a schedule; on the host it is a plain word.
// Bounds:     kStores stores are remembered; older ones are never seen again.
// Ordering:   acquire loads join what the store that they read published; a read-modify-write reads the newest store
//             and continues its release sequence; among seq_cst operations on one word none sees an older store than an
//             earlier one did. They order no other memory than acquire and release do.
// Not here:   a load that sees a store which its own thread's later steps lead to (load buffering), and stores that
//             take another place in a word's order than they are executed in. Fences: the product has none.
// Source:     C++20 [intro.races], [atomics.order]; own design.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/schedule.h"

namespace flare::sim {

struct StoreHistory;

struct AtomicWord {
  explicit AtomicWord(std::uint64_t value) : bits(value) {}
  AtomicWord(const AtomicWord&) = delete;
  AtomicWord& operator=(const AtomicWord&) = delete;
  ~AtomicWord();

  std::uint64_t bits;
  mutable SharedObject object;
  mutable VectorClock published;  // by the newest store
  mutable StoreHistory* history = nullptr;
};

using Combine = std::uint64_t (*)(std::uint64_t before, std::uint64_t operand);

std::uint64_t load(const AtomicWord& word, std::memory_order order);
void store(AtomicWord& word, std::uint64_t value, std::memory_order order);
// Returns the value before.
std::uint64_t read_modify_write(AtomicWord& word, Combine combine, std::uint64_t operand, std::memory_order order);
bool compare_exchange(AtomicWord& word, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                      std::memory_order failure, bool weak);

}  // namespace flare::sim
