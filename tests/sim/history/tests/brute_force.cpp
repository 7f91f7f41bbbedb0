#include "brute_force.h"

#include <cstdint>
#include <vector>

namespace flare::sim {

namespace {

// A queue as its header describes it, in the plainest words.
struct PlainQueue {
  std::size_t capacity;
  std::vector<std::int64_t> inside;
  bool closed = false;

  // Does the operation, and says whether its result is the one that was recorded.
  bool agrees(const Operation& operation, const std::vector<std::int64_t>& list) {
    switch (operation.kind) {
      case OpKind::kPush:
        return push(operation.value, operation.outcome);
      case OpKind::kPop: {
        if (inside.empty()) return operation.outcome == Outcome::kEmpty || operation.outcome == Outcome::kPending;
        const std::int64_t oldest = inside.front();
        inside.erase(inside.begin());
        return operation.outcome == Outcome::kPending ||
               (operation.outcome == Outcome::kOk && operation.value == oldest);
      }
      case OpKind::kSize:
        return operation.outcome == Outcome::kPending || operation.value == static_cast<std::int64_t>(inside.size());
      case OpKind::kClose:
        closed = true;
        [[fallthrough]];
      case OpKind::kDrain: {
        const std::vector<std::int64_t> all = inside;
        inside.clear();
        return operation.outcome == Outcome::kPending || all == list;
      }
    }
    return false;
  }

  bool push(std::int64_t value, Outcome outcome) {
    Outcome mine = Outcome::kOk;
    if (inside.size() >= capacity) mine = Outcome::kRefusedFull;
    if (closed) mine = Outcome::kRefusedClosed;
    if (mine == Outcome::kOk) inside.push_back(value);
    if (outcome == Outcome::kRefused) return mine != Outcome::kOk;
    return outcome == Outcome::kPending || outcome == mine;
  }
};

struct Orders {
  const History& history;
  std::vector<bool> used;

  bool any(const PlainQueue& queue) {
    bool finished = true;
    for (unsigned i = 0; i < history.size(); ++i) {
      if (!used[i] && history[i].outcome != Outcome::kPending) finished = false;
    }
    if (finished) return true;
    for (unsigned i = 0; i < history.size(); ++i) {
      if (used[i] || !may_be_next(i)) continue;
      PlainQueue after = queue;
      const auto list = history.list_of(history[i]);
      if (!after.agrees(history[i], {list.begin(), list.end()})) continue;
      used[i] = true;
      if (any(after)) return true;
      used[i] = false;
    }
    return false;
  }

  bool may_be_next(unsigned i) const {
    for (unsigned other = 0; other < history.size(); ++other) {
      if (!used[other] && history[other].ret < history[i].call) return false;
    }
    return true;
  }
};

}  // namespace

bool brute_force(const History& history, std::size_t capacity) {
  return Orders{history, std::vector<bool>(history.size(), false)}.any(PlainQueue{capacity, {}, false});
}

}  // namespace flare::sim
