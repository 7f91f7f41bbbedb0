// source_scan.h: the atomic operations of the product's sources, by line, and what a notch weaker is for each.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace flare::sim {

struct OrderSite {
  std::string file;  // below runtime/flare
  unsigned line = 0;
  std::string text;  // of the line
  std::memory_order order = std::memory_order_seq_cst;
  std::vector<std::memory_order> weaker;  // empty: relaxed
};

// Every memory order in the sources below directory, also the ones that an operation asks for by naming none.
std::vector<OrderSite> scan_orders(const std::string& directory);
// The orders of one line of a source.
std::vector<OrderSite> orders_in(const std::string& line);

}  // namespace flare::sim
