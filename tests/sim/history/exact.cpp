#include "history/exact.h"

#include <bit>
#include <memory>

namespace flare::sim {

template class BasicExactChecker<ExactFaults{}>;

namespace {

using Search = ExactSearch<WideQueue>;

std::string numbers_of(std::uint64_t set) {
  std::string text;
  for (; set != 0; set &= set - 1) text += " " + std::to_string(std::countr_zero(set));
  return text.empty() ? " none" : text;
}

}  // namespace

std::string explain(const History& history, std::size_t capacity) {
  const auto search = std::make_unique<Search>(capacity);
  Search::Node deepest;
  const SearchResult result = search->run(
      history, {}, [](const Search::Node&) { return true; },
      [&deepest](const Search::Node& node) {
        if (std::popcount(node.done) >= std::popcount(deepest.done)) deepest = node;
        return true;
      });
  const bool ok = result == SearchResult::kFound;
  std::string text = ok ? "linearizable" : "NOT linearizable";
  text += " with capacity " + (capacity == kUnbounded ? std::string("unbounded") : std::to_string(capacity)) + "\n";
  text += table_of(history);
  if (ok) return text;
  text += "the longest beginning of an order has:" + numbers_of(deepest.done) + "\nthen inside:";
  for (unsigned place = 0; place < deepest.queue.size(); ++place) {
    text += " " + std::to_string(history[deepest.queue.at(place)].value);
  }
  if (deepest.queue.size() == 0) text += " nothing";
  if (deepest.queue.is_closed()) text += ", closed";
  text += "\nand none of these fits next:" + numbers_of(history.completed() & ~deepest.done) + "\n";
  return text;
}

}  // namespace flare::sim
