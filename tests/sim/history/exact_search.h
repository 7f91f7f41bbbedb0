// exact_search.h: the search of Wing and Gong with Lowe's memory of dead ends, over the orders of a short history.
// Instead of a linked list of calls and returns it walks sets of operations: operations stand in the order of their
// calls, so those that may come next are the first ones not done, up to one that a not yet done one precedes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "history/history.h"
#include "history/memo.h"

namespace flare::sim {

// Defects that the tests ask for, to see that the comparison with brute force would find them.
struct ExactFaults {
  bool no_capacity = false;        // no push is ever too much
  bool stateless_memo = false;     // the memory of dead ends forgets the state
  bool pending_lost = false;       // what never returned had no effect
  bool pending_returned = false;   // what never returned must have had its effect, and a pop a value
  bool no_real_time = false;       // any order will do
  bool no_backtracking = false;    // the first order that begins well is the only one
  bool drain_counts = false;       // only the number of the drained values is looked at
  bool close_forgotten = false;    // a push after the close is like any other
  bool reads_at_any_time = false;  // size and an empty pop fit everywhere
};

enum class SearchResult : std::uint8_t { kFound, kNone, kGaveUp };

template <class Queue, ExactFaults kFaults = ExactFaults{}>
class ExactSearch {
 public:
  struct Node {
    std::uint64_t done = 0;  // operations whose effect is in the state
    Queue queue;
  };

  explicit ExactSearch(std::size_t capacity) : capacity_(capacity) {}

  // What is forgotten with each new history; between runs on one history what is known to be dead stays.
  void forget() { memo_.clear(); }

  // kFound as soon as on_end(node), called for a node with all completed operations done, returns true.
  // on_node sees every node that the search enters; the search gives up when it returns false.
  template <class OnEnd, class OnNode>
  SearchResult run(const History& history, const Node& start, OnEnd&& on_end, OnNode&& on_node) {
    history_ = &history;
    unsigned depth = 0;
    frames_[0].node = start;
    if (!open(frames_[0])) return SearchResult::kNone;
    if (!on_node(frames_[0].node)) return SearchResult::kGaveUp;
    if (is_end(frames_[0].node) && on_end(frames_[0].node)) return SearchResult::kFound;
    while (true) {
      Frame& frame = frames_[depth];
      if (frame.rest == 0) {
        memo_.insert(frame.node.done, frame.node.queue);
        if (depth == 0 || kFaults.no_backtracking) return SearchResult::kNone;
        --depth;
        continue;
      }
      const unsigned operation = lowest(frame.rest);
      frame.rest &= frame.rest - 1;
      Frame& next = frames_[depth + 1];
      next.node = frame.node;
      if (!write(operation, next.node.queue)) continue;
      next.node.done |= bit(operation);
      if (!open(next)) continue;
      if (!on_node(next.node)) return SearchResult::kGaveUp;
      if (is_end(next.node) && on_end(next.node)) return SearchResult::kFound;
      ++depth;
    }
  }

 private:
  struct Frame {
    Node node;
    std::uint64_t rest = 0;  // operations that are still to be tried next
  };

  static unsigned lowest(std::uint64_t set) { return static_cast<unsigned>(std::countr_zero(set)); }
  static std::uint64_t bit(unsigned operation) { return std::uint64_t{1} << operation; }
  bool is_end(const Node& node) const {
    const std::uint64_t wanted = kFaults.pending_returned ? history_->all() : history_->completed();
    return (wanted & ~node.done) == 0;
  }
  bool is_full(const Queue& queue) const { return !kFaults.no_capacity && queue.size() >= capacity_; }
  static bool is_closed(const Queue& queue) { return !kFaults.close_forgotten && queue.is_closed(); }

  // Takes every operation that fits here without an effect, and collects the rest. False: a known dead end.
  // Taking them at once loses nothing: an order that has one of them later holds with it here as well.
  bool open(Frame& frame) {
    std::uint64_t candidates = 0;
    std::uint64_t& done = frame.node.done;
    for (std::uint64_t left = history_->all() & ~done; left != 0; left &= left - 1) {
      const unsigned operation = lowest(left);
      if (!kFaults.no_real_time && (history_->before(operation) & ~done) != 0) break;
      if (reads((*history_)[operation], frame.node.queue)) {
        done |= bit(operation);
      } else {
        candidates |= bit(operation);
      }
    }
    frame.rest = candidates;
    return !memo_.contains(done, frame.node.queue);
  }

  // Does it fit this state and leave it as it is?
  bool reads(const Operation& operation, const Queue& queue) const {
    switch (operation.outcome) {
      case Outcome::kPending:
        return false;
      case Outcome::kEmpty:
        return kFaults.reads_at_any_time || queue.size() == 0;
      case Outcome::kRefusedFull:
        return is_full(queue) && !is_closed(queue);
      case Outcome::kRefusedClosed:
        return is_closed(queue);
      case Outcome::kRefused:
        return is_full(queue) || is_closed(queue);
      case Outcome::kOk:
        break;
    }
    if (operation.kind == OpKind::kSize) {
      return kFaults.reads_at_any_time || static_cast<std::uint64_t>(operation.value) == queue.size();
    }
    if (operation.list_size != 0 || queue.size() != 0) return false;
    return operation.kind == OpKind::kDrain || (operation.kind == OpKind::kClose && queue.is_closed());
  }

  // Does it fit this state with an effect? Then the state has it.
  bool write(unsigned number, Queue& queue) const {
    const Operation& operation = (*history_)[number];
    const bool pending = operation.outcome == Outcome::kPending;
    if (pending ? kFaults.pending_lost : operation.outcome != Outcome::kOk) return false;
    switch (operation.kind) {
      case OpKind::kPush:
        if (is_full(queue) || is_closed(queue)) return false;
        queue.push(number);
        return true;
      case OpKind::kPop:
        if (queue.size() == 0 || (!pending && value_at(queue, 0) != operation.value)) return false;
        queue.pop();
        return true;
      case OpKind::kDrain:
        if (queue.size() == 0 || (!pending && !holds_list(operation, queue))) return false;
        queue.clear();
        return true;
      case OpKind::kClose:
        if (!pending && !holds_list(operation, queue)) return false;
        if (queue.is_closed() && queue.size() == 0) return false;
        queue.clear();
        queue.close();
        return true;
      case OpKind::kSize:
        return false;
    }
    return false;
  }

  std::int64_t value_at(const Queue& queue, unsigned place) const { return (*history_)[queue.at(place)].value; }
  bool holds_list(const Operation& operation, const Queue& queue) const {
    if (operation.list_size != queue.size()) return false;
    const auto list = history_->list_of(operation);
    for (unsigned place = 0; !kFaults.drain_counts && place < queue.size(); ++place) {
      if (value_at(queue, place) != list[place]) return false;
    }
    return true;
  }

  std::size_t capacity_;
  const History* history_ = nullptr;
  std::array<Frame, History::kMost + 1> frames_{};
  Memo<Queue, kFaults.stateless_memo> memo_;
};

}  // namespace flare::sim
