#include "flare/handoff/handoff_queue.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "flare/base/assert.h"
#include "flare/base/network_error.h"

namespace flare::inline FLARE_ABI {

namespace {

std::uint32_t checked(int capacity) {
  if (capacity < 0) {
    throw NetworkError(EINVAL, "HandoffQueue", "capacity is " + std::to_string(capacity) + ", expected 0 or more");
  }
  return static_cast<std::uint32_t>(capacity);
}

}  // namespace

HandoffQueue::HandoffQueue() : HandoffQueue(limits::kDefaultHandoffCapacity) {}

HandoffQueue::HandoffQueue(int capacity)
    : capacity_(checked(capacity)), slots_(std::make_unique<std::int64_t[]>(capacity_)) {}

HandoffQueue::HandoffQueue(HandoffQueue&& other) noexcept : capacity_(0) {
  steal_from(other);
}

HandoffQueue& HandoffQueue::operator=(HandoffQueue&& other) noexcept {
  if (this == &other) return *this;
  FLARE_ASSERT(size() == 0, "a queue that holds tokens is overwritten: what they name would leak");
  steal_from(other);
  return *this;
}

// One lock after the other, never both: queues that are moved back and forth have no order of locks.
void HandoffQueue::steal_from(HandoffQueue& other) noexcept {
  Ring stolen = other.give_up();
  const MutexLock lock(mutex_);
  slots_ = std::move(stolen.slots);
  capacity_ = stolen.capacity;
  head_ = stolen.head;
  tail_ = stolen.tail;
  pushes_ = stolen.pushes;
  refused_ = stolen.refused;
  count_.store(stolen.count, std::memory_order_release);
  closed_.store(stolen.closed, std::memory_order_release);
}

HandoffQueue::Ring HandoffQueue::give_up() noexcept {
  const MutexLock lock(mutex_);
  Ring ring;
  ring.slots = std::move(slots_);
  ring.capacity = std::exchange(capacity_, 0);
  ring.head = std::exchange(head_, 0);
  ring.tail = std::exchange(tail_, 0);
  ring.pushes = std::exchange(pushes_, 0);
  ring.refused = std::exchange(refused_, 0);
  ring.count = count_now();
  ring.closed = closed_.load(std::memory_order_relaxed);
  count_.store(0, std::memory_order_release);
  closed_.store(true, std::memory_order_release);
  return ring;
}

std::vector<std::int64_t> HandoffQueue::drain() {
  std::vector<std::int64_t> out;
  drain(out);
  return out;
}

void HandoffQueue::drain(std::vector<std::int64_t>& out) {
  drain_with(out, [](std::uint32_t) {});
}

std::vector<std::int64_t> HandoffQueue::close_and_drain() {
  std::vector<std::int64_t> out;
  if (FLARE_MUTANT(kQueueDrainedBeforeClosed)) {
    drain(out);
    close();
    return out;
  }
  drain_with(out, [this](std::uint32_t) { closed_.store(true, std::memory_order_release); });
  return out;
}

void HandoffQueue::close() noexcept {
  const MutexLock lock(mutex_);
  closed_.store(true, std::memory_order_release);
}

std::uint64_t HandoffQueue::pushes() const {
  const MutexLock lock(mutex_);
  return pushes_;
}

std::uint64_t HandoffQueue::pops() const {
  const MutexLock lock(mutex_);
  return pushes_ - count_now();
}

std::uint64_t HandoffQueue::refused() const {
  const MutexLock lock(mutex_);
  return refused_;
}

bool HandoffQueue::refuse() {
  if (!FLARE_MUTANT(kRefusalNotCounted)) ++refused_;
  return false;
}

void HandoffQueue::take_all(std::vector<std::int64_t>& out) {
  out.clear();
  for (std::uint32_t left = count_now(); left > 0; --left) {
    out.push_back(slots_[head_]);
    if (++head_ == capacity_) head_ = 0;
  }
  if (FLARE_MUTANT(kDrainResetsHead)) head_ = 0;
  if (FLARE_MUTANT(kDrainNewestFirst)) std::reverse(out.begin(), out.end());
  count_.store(0, std::memory_order_release);
}

}  // namespace flare::inline FLARE_ABI
