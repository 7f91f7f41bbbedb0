// measured.h: what the programs of the bench share: a processor of one's own, and the middle of many values.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace flare::bench {

// The calling thread. Best effort: without it the figures are noisier.
inline void run_on(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(processor), &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

// Of at least one value; sorts in part.
template <class Value>
Value median(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace flare::bench
