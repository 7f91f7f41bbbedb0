// broken_queue.h: the production queue, and the same with a defect now and then, for the judges to find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "flare/handoff/handoff_queue.h"

namespace flare::sim {

enum class Defect : std::uint8_t {
  kNewest,   // a pop takes the newest
  kDrop,     // an accepted value is lost
  kTwice,    // a pop leaves its value inside
  kRefusal,  // a push is refused though half of the places are free
  kBlind,    // a pop finds nothing though half of the places are full
};

// Each operation is one step, under a lock of its own: only the defect is wrong.
class BrokenQueue {
 public:
  BrokenQueue(int capacity, Defect defect, unsigned every) : queue_(capacity), defect_(defect), every_(every) {}

  bool push(std::int64_t value) {
    const std::lock_guard lock(mutex_);
    if (queue_.size() * 2 <= queue_.capacity() && fails(Defect::kRefusal)) return false;
    if (queue_.size() < queue_.capacity() && !queue_.is_closed() && fails(Defect::kDrop)) return true;
    return queue_.push(value);
  }
  std::optional<std::int64_t> pop() {
    const std::lock_guard lock(mutex_);
    if (queue_.size() * 2 >= queue_.capacity() && fails(Defect::kBlind)) return std::nullopt;
    if (queue_.size() < 2) return queue_.pop();
    if (fails(Defect::kNewest)) {
      std::vector<std::int64_t> all = queue_.drain();
      const std::int64_t newest = all.back();
      all.pop_back();
      put_back(all);
      return newest;
    }
    if (fails(Defect::kTwice)) {
      const std::vector<std::int64_t> all = queue_.drain();
      put_back(all);
      return all.front();
    }
    return queue_.pop();
  }
  std::vector<std::int64_t> drain() {
    const std::lock_guard lock(mutex_);
    return queue_.drain();
  }
  std::vector<std::int64_t> close_and_drain() {
    const std::lock_guard lock(mutex_);
    return queue_.close_and_drain();
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }

  unsigned failures() const { return failures_; }  // when no other thread uses it

 private:
  bool fails(Defect defect) {
    if (defect != defect_ || ++chances_ % every_ != 0) return false;
    ++failures_;
    return true;
  }
  void put_back(const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values) queue_.push(value);
  }

  std::mutex mutex_;
  HandoffQueue queue_;
  Defect defect_;
  unsigned every_;
  unsigned chances_ = 0;
  unsigned failures_ = 0;
};

}  // namespace flare::sim
