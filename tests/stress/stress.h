// stress.h: what the stress tests share: threads that begin together, delays by seed.
#pragma once

#include <barrier>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "support/random_seed.h"

namespace flare::testing {

// One thread's random numbers. A delay is nothing, a few turns of a loop, or a yield: long enough to move one thread's
// step across another's, short enough that the queue stays busy.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t thread) : engine_(seed * 1000 + thread) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  void delay() {
    const std::uint32_t kind = below(64);
    if (kind == 0) std::this_thread::yield();
    if (kind > 8) return;
    for (std::uint32_t turns = below(64); turns > 0; --turns) spun_ = spun_ + 1;
  }

 private:
  std::mt19937_64 engine_;
  volatile std::uint32_t spun_ = 0;
};

// Runs body(thread) on so many threads that all begin at once, and waits for them.
inline void run_together(int threads, const std::function<void(int)>& body) {
  std::barrier<> start(threads);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      start.arrive_and_wait();
      body(thread);
    });
  }
  for (std::thread& one : running) one.join();
}

}  // namespace flare::testing
