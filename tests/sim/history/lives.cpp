#include "history/lives.h"

#include <algorithm>

namespace flare::sim {

namespace {

struct Take {
  std::int64_t value;
  std::size_t operation;
  std::uint64_t place;
};

std::vector<Take> takes_of(const LongHistory& history) {
  std::vector<Take> takes;
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    const Operation& each = history.operations[i];
    if (each.kind == OpKind::kPop && each.outcome == Outcome::kOk) takes.push_back({each.value, i, 0});
    if (each.kind != OpKind::kDrain && each.kind != OpKind::kClose) continue;
    const auto list = history.list_of(each);
    for (std::size_t place = 0; place < list.size(); ++place) takes.push_back({list[place], i, place});
  }
  std::sort(takes.begin(), takes.end(), [](const Take& a, const Take& b) {
    return a.value != b.value ? a.value < b.value : a.operation < b.operation;
  });
  return takes;
}

// Accepted pushes in the order of their values. Empty with a verdict if the history cannot be judged.
Lives pushes_of(const LongHistory& history) {
  Lives lives;
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    const Operation& each = history.operations[i];
    if (each.outcome == Outcome::kPending) {
      lives.verdict = found(Pattern::kNotJudged, history, {i});
      return lives;
    }
    if (each.kind != OpKind::kPush || each.outcome != Outcome::kOk) continue;
    Life life;
    life.value = each.value;
    life.push = i;
    life.push_call = each.call;
    life.push_ret = each.ret;
    lives.all.push_back(life);
  }
  std::sort(lives.all.begin(), lives.all.end(), [](const Life& a, const Life& b) { return a.value < b.value; });
  for (std::size_t i = 1; i < lives.all.size(); ++i) {
    if (lives.all[i - 1].value != lives.all[i].value) continue;
    lives.verdict = found(Pattern::kNotJudged, history, {lives.all[i - 1].push, lives.all[i].push});
    break;
  }
  return lives;
}

}  // namespace

Lives lives_of(const LongHistory& history, const PatternFaults& faults) {
  Lives lives = pushes_of(history);
  if (!lives.verdict.ok()) return lives;
  auto life = lives.all.begin();
  for (const Take& take : takes_of(history)) {
    while (life != lives.all.end() && life->value < take.value) ++life;
    if (life == lives.all.end() || life->value != take.value) {
      if (faults.no_fresh) continue;
      lives.verdict = found(Pattern::kFresh, history, {take.operation});
      return lives;
    }
    const Operation& operation = history.operations[take.operation];
    if (!faults.no_fresh && !faults.late_fresh && operation.ret < life->push_call) {
      lives.verdict = found(Pattern::kFresh, history, {take.operation, life->push});
      return lives;
    }
    if (life->taken) {
      if (faults.no_repeat) continue;
      lives.verdict = found(Pattern::kRepeat, history, {life->take, take.operation});
      return lives;
    }
    life->taken = true;
    life->take = take.operation;
    life->take_call = operation.call;
    life->take_ret = operation.ret;
    life->place = take.place;
  }
  return lives;
}

}  // namespace flare::sim
