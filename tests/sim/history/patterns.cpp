#include "history/patterns.h"

#include <algorithm>

#include "history/lives.h"

namespace flare::sim {

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kNone:
      return "none";
    case Pattern::kFresh:
      return "fresh: taken but not pushed before";
    case Pattern::kRepeat:
      return "repeat: taken twice";
    case Pattern::kOrder:
      return "order: pushed first, taken later or never";
    case Pattern::kWitness:
      return "witness: nothing found while something was always inside";
    case Pattern::kFull:
      return "full: refused without a reason";
    case Pattern::kOverflow:
      return "overflow: accepted while it was always full";
    case Pattern::kSize:
      return "size: a number that it never had";
    case Pattern::kClosed:
      return "closed: used after the close";
    case Pattern::kNotJudged:
      return "not judged: a value pushed twice or an operation that never returned";
  }
  return "?";
}

PatternVerdict found(Pattern pattern, const LongHistory& history, std::initializer_list<std::size_t> operations) {
  PatternVerdict verdict{pattern, name_of(pattern)};
  for (const std::size_t operation : operations) verdict.text += "\n  " + line_of(history, operation);
  return verdict;
}

PatternVerdict judge_by_patterns(const LongHistory& history, std::size_t capacity, const PatternFaults& faults) {
  Lives lives = lives_of(history, faults);
  if (!lives.verdict.ok()) return lives.verdict;
  PatternVerdict verdict;
  if (!faults.no_order) verdict = find_order(history, lives.all, faults);
  if (verdict.ok() && !faults.no_witness) verdict = find_witness(history, lives.all, faults);
  if (verdict.ok()) verdict = find_closed(history, lives.all);
  if (verdict.ok()) verdict = find_bounds(history, lives.all, capacity, faults);
  return verdict;
}

// b ascending by the call of its push; a are those whose push had ended by then, and of them the one taken last.
PatternVerdict find_order(const LongHistory& history, std::vector<Life>& lives, const PatternFaults& faults) {
  std::vector<std::size_t> by_call(lives.size());
  for (std::size_t i = 0; i < by_call.size(); ++i) by_call[i] = i;
  std::sort(lives.begin(), lives.end(), [&faults](const Life& a, const Life& b) {
    return faults.order_by_calls ? a.push_call < b.push_call : a.push_ret < b.push_ret;
  });
  std::sort(by_call.begin(), by_call.end(),
            [&lives](std::size_t a, std::size_t b) { return lives[a].push_call < lives[b].push_call; });
  std::size_t ended = 0;
  const Life* last = nullptr;
  for (const std::size_t at : by_call) {
    const Life& b = lives[at];
    for (; ended < lives.size(); ++ended) {
      const Life& a = lives[ended];
      if ((faults.order_by_calls ? a.push_call : a.push_ret) >= b.push_call) break;
      if (faults.order_without_lost && !a.taken) continue;
      if (last == nullptr || a.take_call > last->take_call) last = &a;
    }
    if (!b.taken || last == nullptr || last->take_call <= b.take_ret) continue;
    if (!last->taken) return found(Pattern::kOrder, history, {last->push, b.push, b.take});
    return found(Pattern::kOrder, history, {last->push, b.push, b.take, last->take});
  }
  // Within one list the values stand in the order in which they were taken.
  std::sort(lives.begin(), lives.end(),
            [](const Life& a, const Life& b) { return a.take != b.take ? a.take < b.take : a.place < b.place; });
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const bool goes_on = i > 0 && lives[i].taken && lives[i - 1].taken && lives[i].take == lives[i - 1].take;
    if (!goes_on) last = &lives[i];
    if (goes_on && lives[i].push_ret < last->push_call) {
      return found(Pattern::kOrder, history, {lives[i].push, last->push, lives[i].take});
    }
    if (lives[i].push_call > last->push_call) last = &lives[i];
  }
  return {};
}

namespace {

struct Stretch {
  std::uint64_t from;
  std::uint64_t to;
};

// When surely something was inside: the union of [return of the push, call of the taking], as stretches apart.
std::vector<Stretch> never_empty(std::vector<Life>& lives, bool apart) {
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) { return a.push_ret < b.push_ret; });
  std::vector<Stretch> stretches;
  for (const Life& life : lives) {
    if (life.take_call <= life.push_ret) continue;
    if (!apart && !stretches.empty() && life.push_ret <= stretches.back().to) {
      stretches.back().to = std::max(stretches.back().to, life.take_call);
    } else if (!apart || stretches.empty() || life.take_call > stretches.back().to) {
      stretches.push_back({life.push_ret, life.take_call});
    }
  }
  return stretches;
}

bool leaves_nothing(const Operation& operation) {
  return operation.outcome == Outcome::kEmpty || operation.kind == OpKind::kDrain || operation.kind == OpKind::kClose;
}

}  // namespace

// An empty pop needs an instant without anything inside; so does a drain, just after it took its list.
PatternVerdict find_witness(const LongHistory& history, std::vector<Life>& lives, const PatternFaults& faults) {
  const std::vector<Stretch> stretches = never_empty(lives, faults.witness_alone);
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    const Operation& each = history.operations[i];
    if (!leaves_nothing(each)) continue;
    auto after = std::upper_bound(stretches.begin(), stretches.end(), each.call,
                                  [](std::uint64_t time, const Stretch& stretch) { return time < stretch.from; });
    if (after != stretches.begin() && each.ret <= std::prev(after)->to) return found(Pattern::kWitness, history, {i});
  }
  return {};
}

PatternVerdict find_closed(const LongHistory& history, const std::vector<Life>& lives) {
  std::size_t close = history.operations.size();
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    const Operation& each = history.operations[i];
    if (each.kind != OpKind::kClose) continue;
    if (close == history.operations.size() || each.ret < history.operations[close].ret) close = i;
  }
  if (close == history.operations.size()) return {};
  for (const Life& life : lives) {
    if (life.push_call > history.operations[close].ret) return found(Pattern::kClosed, history, {close, life.push});
    if (life.taken && life.take_call > history.operations[close].ret) {
      return found(Pattern::kClosed, history, {close, life.push, life.take});
    }
  }
  return {};
}

}  // namespace flare::sim
