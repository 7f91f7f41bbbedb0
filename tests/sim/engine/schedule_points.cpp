// Scheduling points: which objects they stand before, who may run, who is chosen.
#include "engine/arena.h"
#include "engine/mix.h"
#include "engine/schedule.h"
#include "engine/tsan.h"

namespace flare::sim {

void Schedule::identify(SharedObject& object) {
  const std::size_t place = arena::place_of(&object);
  if (place != 0 && place / 16 < kArenaIds) {
    object.id = static_cast<std::uint32_t>(place / 16);
  } else {
    Slot& one = slots_[static_cast<std::size_t>(running_)];
    if (++one.objects >= 1U << 10) fail("engine", "a thread uses more shared objects than the table has");
    object.id = kArenaIds + kDescriptorIds + (static_cast<std::uint32_t>(running_) << 10) + one.objects;
  }
  object.only_thread = running_;
  object.last_write = {};
  object.accesses.clear();
}

// What was freed is filled with what is no id; what has become something else since may look like one.
void Schedule::check_alive(const SharedObject& object, Name call) {
  if (object.id >= kIds || static_cast<unsigned>(object.last_write.thread) >= kMaxThreads) {
    fail("memory", std::string(call.text()) + " of what was freed");
  }
}

void Schedule::point(SharedObject& object, bool writes, Name call, bool schedules) {
  step();
  if (object.id == 0) identify(object);
  check_alive(object, call);
  if (schedules && is_point(object)) {
    preempt(call);
    check_alive(object, call);  // another thread may have freed it meanwhile
  } else {
    ++site_;
  }
  if (object.only_thread != running_) {
    // Used by several: an order that nothing decides makes it a scheduling point of every later schedule.
    const bool ordered = clock().knows(object.last_write) && (!writes || clock().covers(object.accesses));
    if (!ordered && learned_->add(object.id)) verdict_.learned_more = true;
    object.only_thread = -2;
  }
  const Epoch now = clock().now(running_);
  if (writes) object.last_write = now;
  object.accesses.set(running_, now.time);
  touch(object, writes, call);
}

void Schedule::touch(SharedObject& object, bool writes, Name call) {
  if (!keeps_histories_) return;
  std::uint64_t& history = slots_[static_cast<std::size_t>(running_)].history;
  history = mix(history, object.written_by + call.hash());
  if (writes) {
    history = mix(history, object.read_by);
    object.written_by = history;
    object.read_by = 0;
  } else {
    object.read_by += mix(history, 1);  // readers in any order
  }
}

void Schedule::touch_value(std::uint64_t value) {
  if (!keeps_histories_) return;
  std::uint64_t& history = slots_[static_cast<std::size_t>(running_)].history;
  history = mix(history, value);
}

// Equal for schedules that came here by the same operations in an equivalent order.
std::uint64_t Schedule::signature(const Choice& choice) const {
  // Whoever cannot go on may be followed by any other: who it was does not matter.
  std::uint64_t sum =
      choice.kind == ChoiceKind::kSwitch ? 7 : mix(choice.what.hash(), static_cast<std::uint64_t>(running_));
  for (int i = 0; i < threads_; ++i) sum += mix(slot(i).history, static_cast<std::uint64_t>(slot(i).state));
  return mix(sum, static_cast<std::uint64_t>(now_));
}

void Schedule::lock_point(SharedObject& object, Name call) {
  step();
  if (object.id == 0) identify(object);
  check_alive(object, call);
  if (object.only_thread != running_ && object.only_thread != -2) {
    object.only_thread = -2;
    if (learned_->add(object.id)) verdict_.learned_more = true;
  }
  if (is_point(object)) {
    preempt(call);
    check_alive(object, call);  // another thread may have freed it meanwhile
  } else {
    ++site_;
  }
}

void Schedule::always_point(Name call) {
  step();
  preempt(call);
}

// Whether another thread's condition holds is asked by whoever runs: it orders nothing and is not the product's access.
bool Schedule::is_ready(Ready ready, void* argument) {
  const tsan::Engine engine;
  return ready(argument);
}

bool Schedule::is_enabled(const Slot& one) const {
  if (one.state == State::kRunnable) return true;
  return one.state == State::kBlocked && (is_ready(one.ready, one.argument) || now_ >= one.deadline);
}

// In the order of their numbers, from the one after the running thread.
int Schedule::others_enabled(std::array<int, kMaxThreads>& threads) const {
  int count = 0;
  for (int i = 1; i < threads_; ++i) {
    const int thread = running_ + i < threads_ ? running_ + i : running_ + i - threads_;
    if (is_enabled(slot(thread))) threads[static_cast<std::size_t>(count++)] = thread;
  }
  return count;
}

bool Schedule::is_outranked() const {
  for (int i = 0; i < threads_; ++i) {
    if (i != running_ && source_->outranks(i, running_) && is_enabled(slot(i))) return true;
  }
  return false;
}

std::uint32_t Schedule::choose_thread(ChoiceKind kind, Name what, const int* threads, std::uint32_t count) {
  if (count < 2) return 0;
  Choice choice{site_, count, 0, kind, what};
  choice.taken = ask(choice, threads);
  record(choice);
  return choice.taken;
}

bool Schedule::is_known(const Choice& choice) {
  const HostScope host;
  return !source_->visit(signature(choice));
}

std::uint32_t Schedule::ask(const Choice& choice, const int* threads) {
  if (keeps_histories_ && is_known(choice)) {
    verdict_.pruned = true;
    over_ = true;
    slots_[static_cast<std::size_t>(running_)].fiber.suspend();
  }
  const HostScope host;
  return threads != nullptr && source_->has_priorities() ? source_->take_thread(choice, threads)
                                                         : source_->take(choice);
}

void Schedule::record(Choice choice) {
  if (!source_->nondeterminism.empty()) fail("nondeterministic", "the schedule asks for what it did not ask before");
  if (choice.taken == 0) return;
  const HostScope host;
  verdict_.choices.push_back(choice);
  hash_ = mix(hash_, (std::uint64_t{choice.site} << 32) + choice.taken);
}

void Schedule::preempt(Name call) {
  ++points_;
  ++site_;
  if (alive_ == 1 || !source_->may_deviate(ChoiceKind::kPreempt)) return;
  if (source_->has_priorities() && !is_outranked()) return;
  std::array<int, kMaxThreads> threads;
  std::array<int, kMaxThreads> options;
  const int count = others_enabled(threads);
  options[0] = running_;
  for (int i = 0; i < count; ++i) options[static_cast<std::size_t>(i + 1)] = threads[static_cast<std::size_t>(i)];
  const std::uint32_t taken =
      choose_thread(ChoiceKind::kPreempt, call, options.data(), static_cast<std::uint32_t>(count + 1));
  if (taken != 0) switch_to(options[taken]);
}

void Schedule::switch_to(int thread) {
  if (thread == running_) return;
  Slot& self = slots_[static_cast<std::size_t>(running_)];
  running_ = thread;
  hash_ = mix(hash_, static_cast<std::uint64_t>(thread));
  // A finished thread returns to the host by itself.
  if (self.state != State::kFinished) self.fiber.suspend();
}

// The running thread cannot go on, or lets another one go first.
void Schedule::leave(ChoiceKind kind, Name what) {
  std::array<int, kMaxThreads> threads;
  for (;;) {
    auto count = static_cast<std::uint32_t>(others_enabled(threads));
    const Slot& self = slot(running_);
    if (self.state == State::kBlocked && is_enabled(self)) threads[count++] = running_;
    if (self.state == State::kRunnable) threads[count] = running_;  // for a source that has priorities
    if (count > 0) {
      ++site_;
      const std::uint32_t taken = choose_thread(kind, what, threads.data(), count);
      switch_to(threads[taken]);
      return;
    }
    SimTime next = kEndOfTime;
    for (int i = 0; i < threads_; ++i) {
      if (slot(i).state == State::kBlocked && slot(i).deadline < next) next = slot(i).deadline;
    }
    if (next == kEndOfTime) {
      if (self.state == State::kRunnable) return;  // a yield, and nobody else can run
      fail("deadlock", describe_deadlock());
    }
    now_ = next;  // time goes on only when nobody can run
  }
}

bool Schedule::block(Name what, Ready ready, void* argument, SimTime deadline) {
  Slot& self = slots_[static_cast<std::size_t>(running_)];
  while (!is_ready(ready, argument)) {
    if (now_ >= deadline) return false;
    step();
    self.state = State::kBlocked;
    self.ready = ready;
    self.argument = argument;
    self.deadline = deadline;
    self.waits_for = what;
    leave(ChoiceKind::kSwitch, what);
    self.state = State::kRunnable;
  }
  return true;
}

void Schedule::yield() {
  step();
  leave(ChoiceKind::kSwitch, "yield");
}

std::uint32_t Schedule::choose(std::uint32_t options, ChoiceKind kind, Name what) {
  ++site_;
  if (options < 2 || !source_->may_deviate(kind)) return 0;
  Choice choice{site_, options, 0, kind, what};
  choice.taken = ask(choice, nullptr);
  touch_value(choice.taken);
  record(choice);
  return choice.taken;
}

}  // namespace flare::sim
