// wait_until.h: waiting for a condition in a test, with a deadline instead of a sleep.
#pragma once

#include <chrono>
#include <thread>

namespace flare::testing {

// True as soon as condition() holds, false when the deadline passed first. Polls every 200 us.
template <class Condition>
bool wait_until(Condition condition, std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return condition();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

}  // namespace flare::testing
