// table.h: each memory order of the product, one notch weaker, and who notices.
//
// A row is one mutant: an operation, the order it asks for, the next weaker one. The scan of the sources
// (source_scan.h) says which rows there must be; a new atomic operation without its rows is a red test.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace flare::sim {

struct WeakOrder {
  const char* file;       // below runtime/flare
  const char* operation;  // stands on its line
  int nth;                // which of the file's lines with that operation, from 1
  std::memory_order from;
  std::memory_order to;
  const char* scenario;  // that finds it; null: none can
  const char* why;       // what goes wrong; or why nobody can notice
};

std::vector<WeakOrder> weak_orders();
std::string text_of(std::memory_order order);

}  // namespace flare::sim
