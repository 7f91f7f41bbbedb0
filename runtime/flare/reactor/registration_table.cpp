#include "flare/reactor/registration_table.h"

#include <algorithm>

#include "flare/base/assert.h"

namespace flare::inline FLARE_ABI {

std::uint64_t RegistrationTable::next_key() {
  if (free_.empty()) {
    // Room first, so that erase never allocates: it gives back at most as many slots as there are.
    if (free_.capacity() <= slots_.size()) free_.reserve(std::max<std::size_t>(16, 2 * slots_.size()));
    slots_.emplace_back();
    slots_.back().generation = 1;
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t slot = free_.back();
  return make_key(slots_[slot].generation, slot);
}

void RegistrationTable::insert(int fd, std::uint64_t token, int interest, bool exclusive) {
  FLARE_ASSERT(fd >= 0 && find(fd) == nullptr, "insert of a descriptor that is registered");
  const std::uint32_t slot = slot_of(next_key());
  const auto index = static_cast<std::size_t>(fd);
  if (index >= slot_by_fd_.size())
    slot_by_fd_.resize(index + 1 > 2 * slot_by_fd_.size() ? index + 1 : 2 * slot_by_fd_.size(), kNoSlot);
  free_.pop_back();
  Registration& entry = slots_[slot];
  entry.token = token;
  entry.fd = fd;
  entry.interest = static_cast<unsigned char>(interest);
  entry.exclusive = exclusive;
  slot_by_fd_[index] = slot;
  ++live_;
}

void RegistrationTable::erase(int fd) {
  FLARE_ASSERT(find(fd) != nullptr, "erase of a descriptor that is not registered");
  const std::uint32_t slot = slot_by_fd_[static_cast<std::size_t>(fd)];
  slot_by_fd_[static_cast<std::size_t>(fd)] = kNoSlot;
  Registration& entry = slots_[slot];
  entry.fd = -1;
  --live_;
  // A generation that came round again would revive an old key: the slot retires instead.
  if (entry.generation == last_generation_) return;
  ++entry.generation;
  free_.push_back(slot);
}

}  // namespace flare::inline FLARE_ABI
