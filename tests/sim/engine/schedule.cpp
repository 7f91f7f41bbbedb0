#include "engine/schedule.h"

#include <utility>

#include "engine/arena.h"
#include "engine/sanitizers.h"

namespace flare::sim {

Schedule* Schedule::current_ = nullptr;

namespace {

constexpr SimTime kStartOfTime = 1'000'000'000'000;  // no deadline of a test is before it

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9ddfea08eb382d69U;
  return hash ^ (hash >> 47);
}

}  // namespace

Schedule::Schedule() = default;
Schedule::~Schedule() = default;

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
  now_ = kStartOfTime;
  site_ = steps_ = points_ = 0;
  hash_ = 0;
  seq_cst_.clear();
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
#ifdef FLARE_SIM_TSAN
  __tsan_release(&one);
#endif
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
#ifdef FLARE_SIM_TSAN
  __tsan_acquire(&one);
#endif
  if (one.borrowed != nullptr) {
    (*one.borrowed)();
  } else {
    (*one.body)();
    one.body.reset();
  }
#ifdef FLARE_SIM_TSAN
  __tsan_release(&one);
#endif
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
  block("join", [](void* a) {
    const auto* t = static_cast<Target*>(a);
    return t->schedule->has_finished(t->thread);
  }, &target);
  clock().join(slot(thread).clock);
  touch_value(slot(thread).history);
#ifdef FLARE_SIM_TSAN
  __tsan_acquire(&slots_[static_cast<std::size_t>(thread)]);
#endif
  note("thread join", thread, 0);
}

void Schedule::name_thread(std::string name) {
  const HostScope host;
  slots_[static_cast<std::size_t>(running_)].name = std::string(name.data(), name.size());
}

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

void Schedule::point(SharedObject& object, bool writes, Name call) {
  step();
  if (object.id == 0) identify(object);
  if (is_point(object)) {
    preempt(call);
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
  std::uint64_t& history = slots_[static_cast<std::size_t>(running_)].history;
  history = mix(history, value);
}

// Equal for schedules that came here by the same operations in an equivalent order.
std::uint64_t Schedule::signature(const Choice& choice) const {
  // Whoever cannot go on may be followed by any other: who it was does not matter.
  std::uint64_t sum = choice.kind == ChoiceKind::kSwitch ? 7 : mix(choice.what.hash(), static_cast<std::uint64_t>(running_));
  for (int i = 0; i < threads_; ++i) sum += mix(slot(i).history, static_cast<std::uint64_t>(slot(i).state));
  return mix(sum, static_cast<std::uint64_t>(now_));
}

void Schedule::lock_point(SharedObject& object, Name call) {
  step();
  if (object.id == 0) identify(object);
  if (object.only_thread != running_ && object.only_thread != -2) {
    object.only_thread = -2;
    if (learned_->add(object.id)) verdict_.learned_more = true;
  }
  if (is_point(object)) {
    preempt(call);
  } else {
    ++site_;
  }
}

void Schedule::always_point(Name call) {
  step();
  preempt(call);
}

bool Schedule::is_enabled(const Slot& one) const {
  if (one.state == State::kRunnable) return true;
  return one.state == State::kBlocked && (one.ready(one.argument) || now_ >= one.deadline);
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

std::uint32_t Schedule::choose_thread(ChoiceKind kind, Name what, const int* threads, std::uint32_t count) {
  if (count < 2) return 0;
  Choice choice{site_, count, 0, kind, what};
  choice.taken = ask(choice, threads);
  record(choice);
  return choice.taken;
}

std::uint32_t Schedule::ask(const Choice& choice, const int* threads) {
  const HostScope host;
  if (source_->remembers_states() && !source_->visit(signature(choice))) {
    verdict_.pruned = true;
    over_ = true;
    slots_[static_cast<std::size_t>(running_)].fiber.suspend();
  }
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
  while (!ready(argument)) {
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
