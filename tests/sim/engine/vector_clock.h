// vector_clock.h: what a thread of a schedule knows of the others.
#pragma once

#include <array>
#include <cstdint>

namespace flare::sim {

inline constexpr int kMaxThreads = 16;

// One moment of one thread.
struct Epoch {
  std::uint32_t time = 0;  // 0: never
  int thread = 0;
};

class VectorClock {
 public:
  void join(const VectorClock& other) {
    for (std::size_t i = 0; i < times_.size(); ++i)
      times_[i] = times_[i] < other.times_[i] ? other.times_[i] : times_[i];
  }
  void tick(int thread) { ++times_[static_cast<std::size_t>(thread)]; }
  Epoch now(int thread) const { return {times_[static_cast<std::size_t>(thread)], thread}; }
  bool knows(Epoch moment) const { return times_[static_cast<std::size_t>(moment.thread)] >= moment.time; }
  std::uint32_t of(int thread) const { return times_[static_cast<std::size_t>(thread)]; }
  void set(int thread, std::uint32_t time) { times_[static_cast<std::size_t>(thread)] = time; }
  void clear() { times_ = {}; }
  // Every moment of other is known here.
  bool covers(const VectorClock& other) const {
    bool all = true;
    for (std::size_t i = 0; i < times_.size(); ++i) all = all && times_[i] >= other.times_[i];
    return all;
  }

 private:
  std::array<std::uint32_t, kMaxThreads> times_{};
};

}  // namespace flare::sim
