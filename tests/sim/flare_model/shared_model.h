// shared_model.h: Shared<T> of the model: a counted pointer whose last release happens after all the others.
// Threads:    threads of a schedule, one at a time; the count needs no atomic.
// Ordering:   each release publishes what its thread did; the one that deletes sees it, as with the library's pointer.
#pragma once

#include <cstddef>
#include <utility>

#include "engine/arena.h"
#include "engine/schedule.h"
#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  explicit Shared(T* object) {
    if (object == nullptr) return;
    try {
      block_ = new Block{object, {}, [](T* one) { delete one; }};
    } catch (...) {
      delete object;
      throw;
    }
  }
  Shared(const Shared& other) : block_(other.block_) {
    if (block_ != nullptr) block_->holders.join();
  }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(const Shared& other) {
    Shared copy(other);
    std::swap(block_, copy.block_);
    return *this;
  }
  Shared& operator=(Shared&& other) noexcept {
    Shared moved(std::move(other));
    std::swap(block_, moved.block_);
    return *this;
  }
  ~Shared() { release(); }

  T* get() const { return block_ == nullptr ? nullptr : block_->object; }
  T& operator*() const { return *followed(); }
  T* operator->() const { return followed(); }
  explicit operator bool() const { return block_ != nullptr; }
  void reset() { *this = Shared(); }
  friend bool operator==(const Shared& a, std::nullptr_t) { return a.block_ == nullptr; }
  friend bool operator==(const Shared& a, const Shared& b) { return a.block_ == b.block_; }

 private:
  struct Block {
    T* object;
    sim::HolderCount holders;
    void (*destroy)(T*);  // where T was made it is a complete type
  };

  // A use of what was freed fails the schedule here, before it reads what stands there now.
  T* followed() const {
    sim::Schedule* schedule = sim::Schedule::current();
    if (schedule != nullptr && (!sim::arena::is_readable(this) || !sim::arena::is_live(block_))) {
      schedule->fail("memory", "a counted pointer is followed to what was freed");
    }
    return block_->object;
  }
  void release() {
    Block* block = std::exchange(block_, nullptr);
    if (block == nullptr) return;
    if (!block->holders.leave()) return;
    block->destroy(block->object);
    delete block;
  }

  Block* block_ = nullptr;
};

}  // namespace flare::inline FLARE_ABI
