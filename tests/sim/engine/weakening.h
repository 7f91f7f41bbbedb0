// weakening.h: one memory order of the product made weaker: how a test finds out whether anybody would notice.
// Threads:    set on the host, before the first schedule.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace flare::sim {

// The operation is the one on this line that asks for the order from.
struct Weakening {
  std::string_view file;  // how its path ends
  unsigned line = 0;      // 0: none
  std::memory_order from = std::memory_order_seq_cst;
  std::memory_order to = std::memory_order_seq_cst;
  std::uint64_t uses = 0;  // how often it was executed
};

inline constinit Weakening weakening;

inline std::memory_order weakened(std::memory_order order, const std::source_location& site) {
  if (site.line() != weakening.line || order != weakening.from) return order;
  if (!std::string_view(site.file_name()).ends_with(weakening.file)) return order;
  ++weakening.uses;
  return weakening.to;
}

}  // namespace flare::sim
