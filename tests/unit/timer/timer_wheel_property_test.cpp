// The wheel against a sorted list: every operation, also inside callbacks, on delays of every magnitude.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "flare/timer/timer_wheel.h"

namespace flare::testing {
namespace {

struct Step {
  int kind;
  std::uint64_t number;
};

struct CallbackStopped {};

// Small numbers, so that timers meet in one slot, and the edges of every level.
rc::Gen<std::uint64_t> any_span() {
  return rc::gen::weightedOneOf<std::uint64_t>({
      {4, rc::gen::inRange<std::uint64_t>(0, 6)},
      {4, rc::gen::inRange<std::uint64_t>(0, 1200)},
      {2, rc::gen::inRange<std::uint64_t>(0, 200'000)},
      {2, rc::gen::apply([](unsigned bit, std::uint64_t by) { return (std::uint64_t{1} << bit) - 1 + by; },
                         rc::gen::inRange<unsigned>(0, 64), rc::gen::inRange<std::uint64_t>(0, 3))},
      {1, rc::gen::just(std::numeric_limits<std::uint64_t>::max())},
  });
}

rc::Gen<std::vector<Step>> any_steps(int kinds) {
  return rc::gen::container<std::vector<Step>>(rc::gen::construct<Step>(rc::gen::inRange(0, kinds), any_span()));
}

void showValue(const Step& step, std::ostream& out) {
  out << "{" << step.kind << ", " << step.number << "}";
}

// Runs the same steps on a wheel and on the list, and compares at every point where a difference could show.
class Pair {
 public:
  Pair(std::uint64_t start, std::vector<Step> inside) : wheel_(start), now_(start), inside_(std::move(inside)) {}

  void run(const Step& step) {
    switch (step.kind) {
      case 0:
        schedule_at(now_ + step.number);
        break;  // wraps: deadlines long past
      case 1:
        schedule(step.number);
        break;
      case 2:
        schedule_at(step.number);
        break;
      case 3:
        cancel(step.number);
        break;
      case 4:
        advance(step.number > kEndOfTime - now_ ? kEndOfTime : now_ + step.number);
        break;
      case 5:
        advance(now_ - std::min(now_, step.number));
        break;
      default:
        advance(next_deadline().value_or(now_));
        break;
    }
    compare();
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // deadline, order of scheduling; the latter is the token
  static constexpr std::uint64_t kEndOfTime = std::numeric_limits<std::uint64_t>::max();

  void schedule_at(std::uint64_t deadline) { remember(deadline, wheel_.schedule_at(deadline, ids_.size())); }
  void schedule(std::uint64_t delay) {
    const std::uint64_t deadline = delay > kEndOfTime - now_ ? kEndOfTime : now_ + delay;
    remember(deadline, wheel_.schedule(delay, ids_.size()));
  }
  void remember(std::uint64_t deadline, TimerId id) {
    RC_ASSERT(id.value != 0U);
    list_.emplace(Key{deadline, ids_.size()}, ids_.size());
    ids_.push_back({id, deadline});
  }
  void cancel(std::uint64_t number) {
    if (ids_.empty()) return;
    const std::size_t which = number % ids_.size();
    const bool pending = list_.erase(Key{ids_[which].second, which}) == 1;
    RC_ASSERT(wheel_.cancel(ids_[which].first) == pending);
  }
  void advance(std::uint64_t to) {
    now_ = std::max(now_, to);
    std::vector<Key> due;
    for (const auto& entry : list_) {
      if (entry.first.first <= now_) due.push_back(entry.first);
    }
    std::size_t at = 0;
    const auto skip_cancelled = [&] {
      while (at < due.size() && list_.count(due[at]) == 0) ++at;
    };
    try {
      wheel_.advance(to, [&](std::uint64_t token) {
        skip_cancelled();
        RC_ASSERT(at < due.size());
        RC_ASSERT(due[at].second == token);
        list_.erase(due[at++]);
        compare();
        act_inside();
      });
      skip_cancelled();
      RC_ASSERT(at == due.size());
    } catch (const CallbackStopped&) {
    }
  }
  void act_inside() {
    if (inside_.empty()) return;
    const Step& step = inside_[next_inside_++ % inside_.size()];
    switch (step.kind) {
      case 0:
        break;
      case 1:
        schedule(step.number);
        break;
      case 2:
        schedule_at(now_ - std::min(now_, step.number));
        break;
      case 3:
        cancel(step.number);
        break;
      case 4:
        throw CallbackStopped{};
      default:
        cancel(ids_.size() - 1 - std::min<std::uint64_t>(step.number, ids_.size() - 1));
        break;
    }
    compare();
  }
  std::optional<std::uint64_t> next_deadline() const {
    if (list_.empty()) return std::nullopt;
    return list_.begin()->first.first;
  }
  void compare() {
    RC_ASSERT(wheel_.pending() == list_.size());
    RC_ASSERT(wheel_.next_deadline_ms() == next_deadline());
  }

  TimerWheel wheel_;
  std::uint64_t now_;
  std::vector<Step> inside_;
  std::size_t next_inside_ = 0;
  std::map<Key, std::uint64_t> list_;
  std::vector<std::pair<TimerId, std::uint64_t>> ids_;
};

// proves: C-TIMER-01, C-TIMER-02, C-TIMER-03, C-TIMER-04, C-TIMER-05, C-TIMER-06, INV-19
RC_GTEST_PROP(TimerWheelProperty, BehavesLikeASortedList, ()) {
  const auto start = *rc::gen::oneOf(rc::gen::just<std::uint64_t>(0), any_span());
  Pair pair(start, *any_steps(6));
  for (const Step& step : *rc::gen::scale(6.0, any_steps(7))) pair.run(step);
}

}  // namespace
}  // namespace flare::testing
