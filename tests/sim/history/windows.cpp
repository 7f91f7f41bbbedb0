#include "history/windows.h"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

namespace flare::sim {

namespace {

using Search = ExactSearch<WideQueue>;
using Contents = std::vector<std::size_t>;  // the pushes whose values are inside, oldest first

class WindowJudge {
 public:
  WindowJudge(const LongHistory& history, std::size_t capacity, const WindowFaults& faults)
      : history_(history), capacity_(capacity), faults_(faults), search_(std::make_unique<Search>(capacity)) {}

  WindowVerdict run() {
    const std::vector<Operation>& all = history_.operations;
    std::size_t from = 0;
    std::uint64_t latest_end = 0;
    for (std::size_t at = 0; at < all.size() && verdict_.ok; ++at) {
      if (at > from && all[at].call > latest_end && at + late() < all.size()) {
        judge(from, at + late());
        from = at + late();
      }
      latest_end = faults_.cut_too_early ? all[at].ret : std::max(latest_end, all[at].ret);
    }
    if (verdict_.ok && from < all.size()) judge(from, all.size());
    return std::move(verdict_);
  }

 private:
  std::size_t late() const { return faults_.cut_too_late ? 1 : 0; }

  void judge(std::size_t from, std::size_t to) {
    const Contents inside = faults_.starts_empty ? Contents{} : inside_;
    part_ = inside;
    for (std::size_t at = from; at < to; ++at) part_.push_back(at);
    bool complete = false;  // the search saw every end of the window
    if (part_.size() <= History::kMost) {
      rewrite(history_, part_, window_, numbers_);
      complete = search_all(inside.size());
      if (complete && ends_.empty()) return refuse(from, to);
    }
    // One end is enough to say yes; without any and unfinished, nothing is said.
    if (complete || (part_.size() <= History::kMost && !ends_.empty())) {
      ++verdict_.judged;
      verdict_.operations += to - from;
    } else {
      ++verdict_.too_hard;
    }
    hand_on(from, to, complete);
  }

  // Leaves the states in which the window can end in ends_. True if these are all.
  bool search_all(std::size_t inside) {
    search_->forget();
    ends_.clear();
    seen_.clear();
    const auto on_end = [this](const Search::Node& node) {
      Contents end;
      for (unsigned place = 0; place < node.queue.size(); ++place) end.push_back(operation_of_[node.queue.at(place)]);
      if (seen_.insert(key_of(end)).second) ends_.push_back(std::move(end));
      return ends_.size() > kMostStates;
    };
    std::size_t nodes = 0;
    const auto on_node = [&nodes](const Search::Node&) { return ++nodes <= kMostNodes; };
    operation_of_.assign(part_.size(), 0);
    for (std::size_t i = 0; i < part_.size(); ++i) operation_of_[numbers_[i]] = part_[i];
    Search::Node start;
    if (closed_) start.queue.close();
    if (!starts_known_ || faults_.starts_empty) {
      return search_->run(window_, start, on_end, on_node) == SearchResult::kNone;
    }
    verdict_.most_states = std::max(verdict_.most_states, starts_.size());
    for (std::size_t i = 0; i < inside; ++i) start.done |= std::uint64_t{1} << numbers_[i];
    for (const Contents& contents : starts_) {
      start.queue.clear();
      for (const std::size_t push : contents) start.queue.push(number_of(push));
      if (search_->run(window_, start, on_end, on_node) != SearchResult::kNone) return false;
    }
    return true;
  }

  unsigned number_of(std::size_t operation) const {
    for (std::size_t i = 0; i < part_.size(); ++i) {
      if (part_[i] == operation) return numbers_[i];
    }
    return 0;
  }
  static std::string key_of(const Contents& contents) {
    return {reinterpret_cast<const char*>(contents.data()), contents.size() * sizeof(std::size_t)};
  }

  void hand_on(std::size_t from, std::size_t to, bool known) {
    for (std::size_t at = from; at < to; ++at) closed_ = closed_ || history_.operations[at].kind == OpKind::kClose;
    starts_known_ = known;
    if (known) {
      starts_ = ends_;
      if (faults_.one_state) starts_.resize(1);
      inside_ = starts_.front();
      std::sort(inside_.begin(), inside_.end());
      return;
    }
    std::unordered_set<std::int64_t> taken;
    for (std::size_t at = from; at < to; ++at) {
      const Operation& each = history_.operations[at];
      if (each.kind == OpKind::kPop && each.outcome == Outcome::kOk) taken.insert(each.value);
      if (each.list_size == 0) continue;
      for (const std::int64_t value : history_.list_of(each)) taken.insert(value);
    }
    for (std::size_t at = from; at < to; ++at) {
      const Operation& each = history_.operations[at];
      if (each.kind == OpKind::kPush && each.outcome == Outcome::kOk) inside_.push_back(at);
    }
    std::erase_if(inside_, [&](std::size_t push) { return taken.contains(history_.operations[push].value); });
  }

  void refuse(std::size_t from, std::size_t to) {
    verdict_.ok = false;
    verdict_.text = "operations " + std::to_string(from) + " to " + std::to_string(to - 1) + ", after " +
                    std::to_string(part_.size() - (to - from)) + " values inside (their pushes come first)\n" +
                    explain(window_, capacity_);
  }

  const LongHistory& history_;
  std::size_t capacity_;
  WindowFaults faults_;
  std::unique_ptr<Search> search_;
  WindowVerdict verdict_;
  // At the start of the next window: what is inside, in which orders, and is it closed?
  Contents inside_;
  std::vector<Contents> starts_{Contents{}};
  bool starts_known_ = true;
  bool closed_ = false;
  // Of one window: its operations after the pushes of what is inside, and where each is in window_.
  std::vector<std::size_t> part_;
  std::vector<unsigned> numbers_;
  std::vector<std::size_t> operation_of_;
  History window_;
  std::vector<Contents> ends_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

WindowVerdict judge_windows(const LongHistory& history, std::size_t capacity, const WindowFaults& faults) {
  return WindowJudge(history, capacity, faults).run();
}

}  // namespace flare::sim
