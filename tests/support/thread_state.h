// thread_state.h: whether a thread of this process sleeps in the system, as the kernel tells.
#pragma once

#include <fstream>
#include <string>

namespace flare::testing {

// id: what gettid() gave to that thread; 0 or a thread that has ended: false.
inline bool is_asleep(int id) {
  std::ifstream stat("/proc/self/task/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'S';
}

}  // namespace flare::testing
