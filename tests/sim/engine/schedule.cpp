#include "engine/schedule.h"

#include <utility>

#include "engine/arena.h"
#include "engine/mix.h"
#include "engine/tsan.h"

namespace flare::sim {

Schedule* Schedule::current_ = nullptr;

namespace {

constexpr SimTime kStartOfTime = 1'000'000'000'000;  // no deadline of a test is before it

}  // namespace

Schedule::Schedule() = default;
// What an abandoned schedule left belongs to an arena that is gone.
Schedule::~Schedule() {
  clear_slots();
}

void Schedule::clear_slots() {
  for (int i = 0; i < threads_; ++i) {
    Slot& one = slots_[static_cast<std::size_t>(i)];
    static_cast<void>(one.body.release());  // the arena's, if it is still there
    one.fiber.discard();
    one.state = State::kUnused;
    one.clock.clear();
    one.objects = 0;
    one.product = false;
    one.borrowed = nullptr;
  }
  threads_ = 0;
}

Verdict Schedule::run(ChoiceSource& source, const ScheduleOptions& options, LearnedObjects& learned,
                      const std::function<void()>& body) {
  clear_slots();
  arena::reset();
  source_ = &source;
  options_ = &options;
  learned_ = &learned;
  running_ = 0;
  alive_ = 0;
  over_ = false;
  keeps_histories_ = source.remembers_states();
  now_ = kStartOfTime;
  site_ = steps_ = points_ = 0;
  hash_ = 0;
  verdict_ = Verdict();
  current_ = this;
  prepare(0, "control");
  slots_[0].borrowed = &body;
  while (!over_) {
    arena::taking = true;
    arena::may_fail = slot(running_).product;
    slots_[static_cast<std::size_t>(running_)].fiber.resume();
    arena::taking = false;
  }
  current_ = nullptr;
  for (int i = 0; i < threads_; ++i) slots_[static_cast<std::size_t>(i)].fiber.end_before_host();
  verdict_.hash = hash_;
  verdict_.steps = steps_;
  verdict_.points = points_;
  verdict_.threads = threads_;
  if (options.trace || !verdict_.ok()) {
    for (int i = 0; i < threads_; ++i) verdict_.thread_names.push_back(slot(i).name);
  }
  source.end_schedule(site_);
  verdict_.nondeterminism = std::exchange(source.nondeterminism, {});
  return std::move(verdict_);
}

void Schedule::prepare(int thread, Name name) {
  const HostScope host;
  Slot& one = slots_[static_cast<std::size_t>(thread)];
  threads_ = thread + 1;
  ++alive_;
  one.state = State::kRunnable;
  one.name = name.text();
  one.clock.clear();
  one.clock.tick(thread);
  one.history = mix(0, static_cast<std::uint64_t>(thread));
  one.fiber.prepare(thread_main, this);
}

int Schedule::spawn(std::unique_ptr<std::function<void()>> body, Name name) {
  if (threads_ == kMaxThreads) fail("engine", "more threads than kMaxThreads");
  const int child = threads_;
  prepare(child, name);
  Slot& one = slots_[static_cast<std::size_t>(child)];
  one.body = std::move(body);
  one.clock.join(clock());
  clock().tick(running_);
  one.history = mix(one.history, slot(running_).history);
  touch_value(static_cast<std::uint64_t>(child));
  tsan::release(&one);
  note("thread start", child, 0);
  return child;
}

void Schedule::set_product(bool product) {
  slots_[static_cast<std::size_t>(running_)].product = product;
  arena::may_fail = product;
}

void Schedule::thread_main(void* argument) {
  auto& self = *static_cast<Schedule*>(argument);
  const int id = self.running_;
  Slot& one = self.slots_[static_cast<std::size_t>(id)];
  tsan::acquire(&one);
  if (one.borrowed != nullptr) {
    (*one.borrowed)();
  } else {
    (*one.body)();
    one.body.reset();
  }
  tsan::release(&one);
  self.note("thread end", id, 0);
  one.clock.tick(id);
  one.state = State::kFinished;
  if (--self.alive_ == 0) {
    self.over_ = true;
  } else {
    self.leave(ChoiceKind::kSwitch, "after a thread's end");
  }
}

void Schedule::join(int thread) {
  step();
  struct Target {
    Schedule* schedule;
    int thread;
  } target{this, thread};
  block(
      "join",
      [](void* a) {
        const auto* t = static_cast<Target*>(a);
        return t->schedule->has_finished(t->thread);
      },
      &target);
  clock().join(slot(thread).clock);
  touch_value(slot(thread).history);
  tsan::acquire(&slot(thread));
  note("thread join", thread, 0);
}

void Schedule::note(Name call, std::int64_t argument, std::int64_t result) {
  hash_ = mix(hash_, call.hash() + static_cast<std::uint64_t>(running_));
  hash_ = mix(hash_, static_cast<std::uint64_t>(argument) * 31 + static_cast<std::uint64_t>(result));
  if (!options_->trace) return;
  const HostScope host;
  verdict_.trace.push_back({running_, call, argument, result, now_ - kStartOfTime, {}});
}

void Schedule::note_text(Name call, std::string text) {
  if (!options_->trace) return;
  const HostScope host;
  verdict_.trace.push_back({running_, call, 0, 0, now_ - kStartOfTime, std::string(text.data(), text.size())});
}

void Schedule::fail(Name oracle, std::string text) {
  {
    const HostScope host;
    if (verdict_.oracle.empty()) {
      verdict_.oracle = oracle.text();
      verdict_.text = std::string(text.data(), text.size());
    }
  }
  over_ = true;
  slots_[static_cast<std::size_t>(running_)].fiber.suspend();
  std::abort();  // nobody resumes an abandoned schedule
}

std::string Schedule::describe_deadlock() const {
  std::string text = "nobody can run:";
  for (int i = 0; i < threads_; ++i) {
    if (slot(i).state != State::kBlocked) continue;
    text += " " + slot(i).name + " waits for " + slot(i).waits_for.text() + ";";
  }
  return text;
}

}  // namespace flare::sim
