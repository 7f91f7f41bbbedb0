// The number of values inside, from both sides: at least those whose push had ended and whose taking had not begun, at
// most those whose push had begun and whose taking had not ended. A refusal, an accepted push and a size each need an
// instant at which the number can have been right.
#include <algorithm>
#include <bit>
#include <functional>

#include "history/exact.h"
#include "history/lives.h"

namespace flare::sim {

namespace {

struct Change {
  std::uint64_t time;
  std::int32_t least;
  std::int32_t most;
};

// Best of a stretch of values, in O(log n). Better: std::less for the least, std::greater for the most.
template <class Better>
class StretchTree {
 public:
  explicit StretchTree(const std::vector<std::int32_t>& values)
      : leaves_(std::bit_ceil(std::max<std::size_t>(values.size(), 1))), tree_(2 * leaves_) {
    std::copy(values.begin(), values.end(), tree_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    if (!values.empty()) {
      std::fill(tree_.begin() + static_cast<std::ptrdiff_t>(leaves_ + values.size()), tree_.end(), values.back());
    }
    for (std::size_t i = leaves_ - 1; i > 0; --i) tree_[i] = best(tree_[2 * i], tree_[2 * i + 1]);
  }
  // Of [from, to], both in it.
  std::int32_t best_of(std::size_t from, std::size_t to) const {
    std::int32_t result = tree_[leaves_ + from];
    for (from += leaves_, to += leaves_ + 1; from < to; from /= 2, to /= 2) {
      if (from % 2 == 1) result = best(result, tree_[from++]);
      if (to % 2 == 1) result = best(result, tree_[--to]);
    }
    return result;
  }

 private:
  static std::int32_t best(std::int32_t a, std::int32_t b) { return Better()(b, a) ? b : a; }

  std::size_t leaves_;
  std::vector<std::int32_t> tree_;
};

// The two numbers after each change; place 0 is before the first.
class Bounds {
 public:
  explicit Bounds(const std::vector<Life>& lives) {
    std::vector<Change> changes;
    changes.reserve(4 * lives.size());
    for (const Life& life : lives) {
      changes.push_back({life.push_call, 0, 1});
      changes.push_back({life.push_ret, 1, 0});
      if (!life.taken) continue;
      changes.push_back({life.take_call, -1, 0});
      changes.push_back({life.take_ret, 0, -1});
    }
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
    times_.reserve(changes.size());
    least_.push_back(0);
    most_.push_back(0);
    for (const Change& change : changes) {
      times_.push_back(change.time);
      least_.push_back(least_.back() + change.least);
      most_.push_back(most_.back() + change.most);
    }
  }

  const std::vector<std::int32_t>& least() const { return least_; }
  const std::vector<std::int32_t>& most() const { return most_; }
  // The first and the last place that hold within an operation: after its call, before its return.
  std::size_t first_of(const Operation& operation) const {
    return static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), operation.call) - times_.begin());
  }
  std::size_t last_of(const Operation& operation) const {
    return static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), operation.ret) - times_.begin());
  }

 private:
  std::vector<std::uint64_t> times_;
  std::vector<std::int32_t> least_;
  std::vector<std::int32_t> most_;
};

std::uint64_t first_close(const LongHistory& history) {
  std::uint64_t first = kNever;
  for (const Operation& each : history.operations) {
    if (each.kind == OpKind::kClose) first = std::min(first, each.call);
  }
  return first;
}

}  // namespace

PatternVerdict find_bounds(const LongHistory& history, const std::vector<Life>& lives, std::size_t capacity,
                           const PatternFaults& faults) {
  const Bounds bounds(lives);
  const StretchTree<std::less<>> lowest(bounds.least());
  const StretchTree<std::greater<>> highest(bounds.most());
  const std::uint64_t close = first_close(history);
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    const Operation& each = history.operations[i];
    if (each.kind != OpKind::kPush && each.kind != OpKind::kSize) continue;
    const std::size_t from = bounds.first_of(each);
    const std::size_t to = bounds.last_of(each);
    const auto least = static_cast<std::size_t>(std::max(lowest.best_of(from, to), 0));
    const auto most = static_cast<std::size_t>(highest.best_of(from, to) - (faults.bounds_off_by_one ? 1 : 0));
    const bool may_be_closed = close < each.ret;
    if (each.kind == OpKind::kSize) {
      const auto size = static_cast<std::size_t>(each.value);
      if (size < least || size > most) return found(Pattern::kSize, history, {i});
    } else if (each.outcome == Outcome::kOk) {
      if (least >= capacity) return found(Pattern::kOverflow, history, {i});
    } else if (each.outcome == Outcome::kRefusedClosed) {
      if (!may_be_closed) return found(Pattern::kClosed, history, {i});
    } else if (most < capacity && (each.outcome == Outcome::kRefusedFull || !may_be_closed)) {
      return found(Pattern::kFull, history, {i});
    }
  }
  return {};
}

}  // namespace flare::sim
