#include "flare/worker/connection_table.h"

#include "flare/base/assert.h"

namespace flare::inline FLARE_ABI {

ConnectionSlot& ConnectionTable::add(UniqueFd fd) {
  if (free_.empty()) {
    if (free_.capacity() <= slots_.size()) free_.reserve(2 * slots_.size() + 16);
    slots_.emplace_back();
    slots_.back().index = static_cast<std::uint32_t>(slots_.size() - 1);
    free_.push_back(slots_.back().index);
  }
  ConnectionSlot& slot = slots_[free_.back()];
  free_.pop_back();
  slot.fd = std::move(fd);
  slot.state = ConnectionSlot::State::kServing;
  ++live_;
  return slot;
}

ConnectionSlot* ConnectionTable::find(std::uint64_t handle) {
  const std::size_t index = static_cast<std::uint32_t>(handle);
  if (index >= slots_.size()) return nullptr;
  ConnectionSlot& slot = slots_[index];
  if (slot.state == ConnectionSlot::State::kFree || slot.handle() != handle) return nullptr;
  return &slot;
}

void ConnectionTable::remove(ConnectionSlot& slot) {
  FLARE_ASSERT(slot.state != ConnectionSlot::State::kFree, "a connection is removed twice");
  // 31 bits: the top bit of a handle says that it is a connection's.
  const std::uint32_t generation = (slot.generation + 1) & 0x7fffffffU;
  const std::uint32_t index = slot.index;
  slot = ConnectionSlot{};
  slot.generation = generation == 0 ? 1 : generation;
  slot.index = index;
  free_.push_back(index);
  --live_;
}

}  // namespace flare::inline FLARE_ABI
