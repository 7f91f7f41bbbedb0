// exact.h: is a short history of a bounded FIFO queue linearizable? Exact, for up to 64 operations.
// Threads:  one at a time; the memory of one check serves the next.
// Bounds:   exponential at worst, about a microsecond for a dozen operations. No allocation once it is warm.
// Not here: long histories (patterns.h, windows.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "history/exact_search.h"
#include "history/history.h"
#include "history/model_queue.h"

namespace flare::sim {

inline constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

// The queue: push adds at the end; refused (full) with capacity values inside, refused (closed) after a close. pop
// takes the oldest. drain takes all. close_and_drain takes all and closes. size counts.
template <ExactFaults kFaults>
class BasicExactChecker {
 public:
  explicit BasicExactChecker(std::size_t capacity) : capacity_(capacity), packed_(capacity), wide_(capacity) {}

  bool is_linearizable(const History& history) {
    return history.size() <= PackedQueue::kMost ? check(packed_, history) : check(wide_, history);
  }
  std::size_t capacity() const { return capacity_; }

 private:
  template <class Search>
  bool check(Search& search, const History& history) {
    search.forget();
    using Node = typename Search::Node;
    const auto yes = [](const Node&) { return true; };
    return search.run(history, Node{}, yes, yes) == SearchResult::kFound;
  }

  std::size_t capacity_;
  ExactSearch<PackedQueue, kFaults> packed_;
  ExactSearch<WideQueue, kFaults> wide_;
};

extern template class BasicExactChecker<ExactFaults{}>;
using ExactChecker = BasicExactChecker<ExactFaults{}>;

// Why not: the table of the history, the longest beginning of an order that was found, and what did not fit after it.
std::string explain(const History& history, std::size_t capacity);

}  // namespace flare::sim
