// registration_table.h: who is registered in a Reactor, by descriptor and by key.     Private header.
// Threads:    the one thread that polls.
// Owns:       nothing: descriptors belong to the callers.
// Bounds:     one slot per live registration, reused last in first out; 2^32 - 1 slots; one word per descriptor number.
// Errors:     next_key and insert may throw bad_alloc; then nothing changed.
// Ordering:   none.
// Invariants: INV-10: a key names one registration for ever. A slot whose generations are used up is never used again.
// Not here:   system calls (reactor/reactor.cpp).
// Source:     own design (decision 12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/sync.h"

namespace flare::inline FLARE_ABI {

struct Registration {
  std::uint64_t token = 0;
  int fd = -1;  // -1: nobody is in this slot
  std::uint32_t generation = 0;
  unsigned char interest = 0;
  bool exclusive = false;
};

class RegistrationTable {
 public:
  // A key is what the poller holds: the generation in the upper half, the slot in the lower one. The generation of a
  // live registration is never 0, so 0 is no key. There are as many slots as descriptors were registered at once, and
  // one more for each 2^32 registrations: none gets as far as the number kNoSlot, so ~0 is no key either.
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();
  static std::uint64_t make_key(std::uint32_t generation, std::uint32_t slot) {
    return std::uint64_t{generation} << 32U | slot;
  }
  static std::uint32_t slot_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }
  static std::uint32_t generation_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32U); }

  // last_generation: how often one slot is used. Only tests make it small.
  explicit RegistrationTable(std::uint32_t last_generation = std::numeric_limits<std::uint32_t>::max())
      : last_generation_(last_generation) {}

  // The key that the next insert will use. Asking again gives the same one.
  std::uint64_t next_key();
  // fd is not registered. The registration's key is what next_key returned.
  void insert(int fd, std::uint64_t token, int interest, bool exclusive);
  // fd is registered. Its key is stale from now on.
  void erase(int fd);

  // The registration of fd, or null. Valid until the next insert.
  Registration* find(int fd) {
    const auto index = static_cast<std::size_t>(fd);
    if (fd < 0 || index >= slot_by_fd_.size() || slot_by_fd_[index] == kNoSlot) return nullptr;
    return &slots_[slot_by_fd_[index]];
  }
  const Registration* find(int fd) const { return const_cast<RegistrationTable*>(this)->find(fd); }
  // The live registration that key names, or null when it is stale.
  const Registration* current(std::uint64_t key) const {
    const std::uint32_t slot = slot_of(key);
    if (slot >= slots_.size()) return nullptr;
    const Registration& entry = slots_[slot];
    const bool same = entry.generation == generation_of(key) || FLARE_MUTANT(kGenerationIgnored);
    return entry.fd >= 0 && same ? &entry : nullptr;
  }
  std::uint64_t key_of(int fd) const {
    const std::uint32_t slot = slot_by_fd_[static_cast<std::size_t>(fd)];
    return make_key(slots_[slot].generation, slot);
  }
  std::size_t size() const { return live_; }
  // Every slot, the empty ones (fd -1) too.
  const std::vector<Registration>& slots() const { return slots_; }

 private:
  std::uint32_t last_generation_;
  std::vector<Registration> slots_;
  std::vector<std::uint32_t> free_;        // slots to use again; the last one first
  std::vector<std::uint32_t> slot_by_fd_;  // kNoSlot: not registered
  std::size_t live_ = 0;
};

}  // namespace flare::inline FLARE_ABI
