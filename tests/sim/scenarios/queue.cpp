#include "scenarios/queue.h"

#include <memory>

#include "engine/arena.h"
#include "flare/handoff/handoff_queue.h"
#include "history/exact.h"
#include "history/history.h"

namespace flare::sim {

namespace {

constexpr int kProducers = 2;
constexpr int kOperations = 4;

// What the judge needs, on the host: it outlives the schedule and takes no memory of it.
struct Judge {
  explicit Judge(int capacity) : checker(static_cast<std::size_t>(capacity)) {}
  ExactChecker checker;
  History history;
};

unsigned called(Judge& judge, OpKind kind, std::int64_t value = 0) {
  const HostScope host;
  return judge.history.call(static_cast<unsigned>(Schedule::current()->thread()), kind, value);
}

void push(Judge& judge, HandoffQueue& queue, std::int64_t value) {
  const unsigned number = called(judge, OpKind::kPush, value);
  const bool accepted = queue.push(value);
  judge.history.returned(number, accepted ? Outcome::kOk : Outcome::kRefusedFull);
}

void pop(Judge& judge, HandoffQueue& queue) {
  const unsigned number = called(judge, OpKind::kPop);
  const std::optional<std::int64_t> value = queue.pop();
  judge.history.returned(number, value ? Outcome::kOk : Outcome::kEmpty, value.value_or(0));
}

void drain(Judge& judge, HandoffQueue& queue) {
  const unsigned number = called(judge, OpKind::kDrain);
  const std::vector<std::int64_t> values = queue.drain();
  const HostScope host;
  judge.history.returned(number, values);
}

void size(Judge& judge, HandoffQueue& queue) {
  const unsigned number = called(judge, OpKind::kSize);
  judge.history.returned(number, Outcome::kOk, static_cast<std::int64_t>(queue.size()));
}

// with_atomics: what the queue's size() reads without the lock is a scheduling point too, and is asked for.
Scenario two_producers(int capacity, bool with_atomics) {
  const auto judge = std::make_shared<Judge>(capacity);
  Scenario scenario;
  scenario.name = std::string("queue.") + (with_atomics ? "atomics." : "lock.") + std::to_string(capacity);
  scenario.options.atomic_points = with_atomics;
  scenario.before = [judge] { judge->history.clear(); };
  scenario.body = [judge = judge.get(), capacity, with_atomics] {
    HandoffQueue queue(capacity);
    Thread producers[kProducers];
    for (int p = 0; p < kProducers; ++p) {
      producers[p] = Thread::start([judge, &queue, p] {
                       for (int i = 0; i < kOperations; ++i) push(*judge, queue, 10 * (p + 1) + i);
                     }).value();
    }
    pop(*judge, queue);
    pop(*judge, queue);
    if (with_atomics)
      size(*judge, queue);
    else
      pop(*judge, queue);
    drain(*judge, queue);
    for (Thread& one : producers) one.join();
    drain(*judge, queue);
    Schedule::current()->require(queue.pushes() == queue.pops() && queue.size() == 0, "conservation",
                                 "pushes and pops differ after the last drain");
    Schedule::current()->require(queue.pushes() + queue.refused() == kProducers * kOperations, "conservation",
                                 "a push was neither counted as pushed nor as refused");
  };
  scenario.after = [judge, capacity]() -> std::string {
    if (judge->checker.is_linearizable(judge->history)) return {};
    return "not linearizable:\n" + explain(judge->history, static_cast<std::size_t>(capacity));
  };
  return scenario;
}

}  // namespace

std::vector<Scenario> queue_scenarios() {
  std::vector<Scenario> all;
  for (const bool with_atomics : {false, true}) {
    for (const int capacity : {1, 2, 3}) all.push_back(two_producers(capacity, with_atomics));
  }
  return all;
}

}  // namespace flare::sim
