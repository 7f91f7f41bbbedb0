// A tape of operations on a TimerWheel, compared after every step with a list that is searched from end to end.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flare/timer/timer_wheel.h"
#include "tape.h"
#include "target.h"

namespace flare::fuzz {
namespace {

constexpr std::uint64_t kEndOfTime = std::numeric_limits<std::uint64_t>::max();

enum class Kind { kAfter, kAt, kCancel, kAdvance, kToNext, kBack, kInside, kLate };
constexpr std::array<const char*, 8> kNames = {"schedule in",
                                               "schedule at",
                                               "cancel",
                                               "advance by",
                                               "advance to the next deadline",
                                               "advance to before now",
                                               "in a callback",
                                               "schedule before now"};

// A number of every magnitude: small ones, so that timers meet in a slot, and the edges of every level.
std::uint64_t span_of(Op op) {
  switch (op.a >> 6U) {
    case 0:
      return op.b % 6;
    case 1:
      return std::uint64_t{op.b} * (op.a & 63U);
    case 2:
      return op.b == 255 ? kEndOfTime : (std::uint64_t{1} << (op.a & 63U)) - 1 + op.b % 3;
    default:
      return std::uint64_t{op.b} << (op.a & 31U);
  }
}

Kind kind_of(Op op) {
  return static_cast<Kind>(op.code % kNames.size());
}

struct CallbackStopped {};

class Pair {
 public:
  explicit Pair(std::uint64_t start) : wheel_(start), now_(start) {}
  void run(const Tape& tape);

 private:
  struct Timer {
    TimerId id;
    std::uint64_t deadline = 0;
    bool pending = true;
  };

  void apply(Op op);
  void schedule_in(std::uint64_t delay);
  void schedule_at(std::uint64_t deadline);
  void cancel(std::uint64_t number);
  void advance(std::uint64_t to);
  void fired(std::uint64_t token, const std::vector<std::size_t>& due, std::size_t& at);
  void act_inside();
  std::vector<std::size_t> due_until(std::uint64_t time) const;
  std::optional<std::uint64_t> next() const;
  void compare() const;
  void add(TimerId id, std::uint64_t deadline) { timers_.push_back({id, deadline, true}); }

  TimerWheel wheel_;
  std::uint64_t now_;
  std::vector<Timer> timers_;  // by token, those that are over too
  std::vector<Op> inside_;     // what callbacks do, in turn
  std::size_t next_inside_ = 0;
  std::size_t step_ = 0;
};

void Pair::schedule_in(std::uint64_t delay) {
  const std::uint64_t deadline = delay > kEndOfTime - now_ ? kEndOfTime : now_ + delay;
  add(wheel_.schedule(delay, timers_.size()), deadline);
}

void Pair::schedule_at(std::uint64_t deadline) {
  add(wheel_.schedule_at(deadline, timers_.size()), deadline);
}

void Pair::cancel(std::uint64_t number) {
  if (timers_.empty()) return;
  Timer& timer = timers_[timers_.size() - 1 - number % timers_.size()];
  require(wheel_.cancel(timer.id) == timer.pending, step_, "cancel says something else");
  timer.pending = false;
}

// By deadline, equal ones as they were scheduled.
std::vector<std::size_t> Pair::due_until(std::uint64_t time) const {
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    if (timers_[i].pending && timers_[i].deadline <= time) due.push_back(i);
  }
  std::sort(due.begin(), due.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(timers_[a].deadline, a) < std::pair(timers_[b].deadline, b);
  });
  return due;
}

std::optional<std::uint64_t> Pair::next() const {
  std::optional<std::uint64_t> earliest;
  for (const Timer& timer : timers_) {
    if (timer.pending) earliest = std::min(earliest.value_or(kEndOfTime), timer.deadline);
  }
  return earliest;
}

void Pair::compare() const {
  const auto pending = std::count_if(timers_.begin(), timers_.end(), [](const Timer& one) { return one.pending; });
  require(wheel_.pending() == static_cast<std::size_t>(pending), step_, "pending");
  require(wheel_.next_deadline_ms() == next(), step_, "next_deadline_ms");
}

void Pair::advance(std::uint64_t to) {
  now_ = std::max(now_, to);
  const std::vector<std::size_t> due = due_until(now_);
  std::size_t at = 0;
  try {
    wheel_.advance(to, [&](std::uint64_t token) { fired(token, due, at); });
  } catch (const CallbackStopped&) {
    return;
  }
  const auto left = std::find_if(due.begin() + static_cast<std::ptrdiff_t>(at), due.end(),
                                 [this](std::size_t i) { return timers_[i].pending; });
  require(left == due.end(), step_, "a timer that is due did not fire");
}

void Pair::fired(std::uint64_t token, const std::vector<std::size_t>& due, std::size_t& at) {
  while (at < due.size() && !timers_[due[at]].pending) ++at;  // cancelled by a callback
  require(at < due.size(), step_, "a timer fired that is not due");
  require(due[at++] == token, step_, "another timer's turn");
  timers_[token].pending = false;
  compare();
  act_inside();
}

void Pair::act_inside() {
  if (inside_.empty()) return;
  const Op op = inside_[next_inside_++ % inside_.size()];
  switch (op.a % 5) {
    case 0:
      break;
    case 1:
      schedule_in(op.b);
      break;
    case 2:
      schedule_at(now_ - std::min<std::uint64_t>(now_, op.b));
      break;
    case 3:
      cancel(op.b);
      break;
    default:
      throw CallbackStopped{};
  }
  compare();
}

void Pair::apply(Op op) {
  const std::uint64_t span = span_of(op);
  switch (kind_of(op)) {
    case Kind::kAfter:
      return schedule_in(span);
    case Kind::kAt:
      return schedule_at(span);
    case Kind::kCancel:
      return cancel(op.b);
    case Kind::kAdvance:
      return advance(span > kEndOfTime - now_ ? kEndOfTime : now_ + span);
    case Kind::kToNext:
      return advance(next().value_or(now_));
    case Kind::kBack:
      return advance(now_ - std::min(now_, span));
    case Kind::kInside:
      if (inside_.size() < 8) inside_.push_back(op);
      return;
    case Kind::kLate:
      return schedule_at(now_ - std::min(now_, span));
  }
}

void Pair::run(const Tape& tape) {
  for (step_ = 0; step_ < tape.size(); ++step_) {
    apply(tape[step_]);
    compare();
  }
}

}  // namespace

std::string dump_text(const std::uint8_t* data, std::size_t size) {
  const Tape tape(data, size);
  std::string text;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    const Op op = tape[i];
    text += std::to_string(i) + ": " + kNames[op.code % kNames.size()];
    text += kind_of(op) == Kind::kInside ? ": act " + std::to_string(op.a % 5) : ' ' + std::to_string(span_of(op));
    text += " (" + std::to_string(op.b) + ")\n";
  }
  return text;
}

}  // namespace flare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flare::fuzz::begin_input(data, size);
  const flare::fuzz::Tape tape(data, size);
  // The first operation's number is also when time begins.
  flare::fuzz::Pair pair(tape.size() == 0 ? 0 : flare::fuzz::span_of(tape[0]) / 2);
  pair.run(tape);
  return 0;
}
