#include "history/long_history.h"

#include <algorithm>

namespace flare::sim {

namespace {

struct Event {
  std::uint64_t time;
  bool is_end;
  std::size_t of;  // place in the part

  bool operator<(const Event& other) const {
    return time != other.time ? time < other.time : is_end != other.is_end ? other.is_end : of < other.of;
  }
};

void end_in(History& out, unsigned number, const LongHistory& from, const Operation& operation) {
  if (operation.kind == OpKind::kDrain || operation.kind == OpKind::kClose) {
    out.returned(number, from.list_of(operation));
  } else {
    out.returned(number, operation.outcome, operation.value);
  }
}

}  // namespace

void rewrite(const LongHistory& long_history, std::span<const std::size_t> part, History& out,
             std::vector<unsigned>& numbers) {
  std::vector<Event> events;
  for (std::size_t at = 0; at < part.size(); ++at) {
    const Operation& operation = long_history.operations[part[at]];
    events.push_back({operation.call, false, at});
    if (operation.outcome != Outcome::kPending) events.push_back({operation.ret, true, at});
  }
  std::sort(events.begin(), events.end());
  out.clear();
  numbers.assign(part.size(), 0);
  for (const Event& event : events) {
    const Operation& operation = long_history.operations[part[event.of]];
    if (event.is_end) {
      end_in(out, numbers[event.of], long_history, operation);
    } else {
      numbers[event.of] = out.call(operation.thread, operation.kind, operation.value);
    }
  }
}

std::string line_of(const LongHistory& history, std::size_t operation) {
  const Operation& each = history.operations[operation];
  return "thread " + std::to_string(each.thread) + ", " + std::to_string(each.call) + " to " +
         (each.ret == kNever ? "-" : std::to_string(each.ret)) + ": " + text_of(each, history.list_of(each));
}

}  // namespace flare::sim
