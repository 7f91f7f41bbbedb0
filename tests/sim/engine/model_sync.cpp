#include "engine/model_sync.h"

#include <cerrno>
#include <utility>

#include "engine/arena.h"
#include "engine/settings.h"
#include "engine/tsan.h"

namespace flare::sim {

void ModelMutex::take() {
  Schedule& schedule = *Schedule::current();
  schedule.block("a mutex", [](void* self) { return static_cast<ModelMutex*>(self)->owner_ < 0; }, this);
  owner_ = schedule.thread();
  schedule.touch(object_, true, "lock");
  schedule.clock().join(published_);
  tsan::acquire(this);
}

void ModelMutex::release() {
  Schedule& schedule = *Schedule::current();
  tsan::release(this);
  owner_ = -1;
  schedule.touch(object_, true, "unlock");
  published_.join(schedule.clock());
  schedule.clock().tick(schedule.thread());
}

void ModelMutex::lock() {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) return;
  if (object_.id == 0) {
    published_.clear();
    owner_ = -1;
  }
  schedule->lock_point(object_, "lock");
  if (owner_ == schedule->thread()) schedule->fail("deadlock", "a thread locks a mutex that it holds");
  take();
  schedule->note("lock", object_.id, 0);
}

void ModelMutex::unlock() {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) return;
  schedule->step();
  if (schedule->options().every_point) schedule->always_point("unlock");
  if (owner_ != schedule->thread()) schedule->fail("mutex", "a thread unlocks a mutex that it does not hold");
  release();
  schedule->note("unlock", object_.id, 0);
}

void ModelCondition::wait(ModelMutex& mutex) {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) return;
  schedule->step();
  schedule->touch(object_, false, "wait");
  mutex.release();
  struct Waiter {
    const ModelCondition* condition;
    std::uint64_t seen;
  } waiter{this, notified_};
  if (schedule->choose(2, ChoiceKind::kCalm, "spurious wake") == 0) {
    schedule->block(
        "a condition",
        [](void* a) {
          const auto* one = static_cast<Waiter*>(a);
          return one->condition->notified_ != one->seen;
        },
        &waiter);
  }
  schedule->touch(object_, false, "woken");
  mutex.take();
  schedule->note("condition", 0, 0);
}

void ModelCondition::notify_all() {
  if (Schedule* schedule = Schedule::current()) {
    schedule->step();
    schedule->touch(object_, true, "notify");
  }
  ++notified_;
}

int start_thread(std::function<void()>&& body) {
  Schedule& schedule = *Schedule::current();
  schedule.step();
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  if (settings().faults && schedule.choose(2, ChoiceKind::kFault, "thread start: EAGAIN") != 0) {
    schedule.note("thread start", -1, -EAGAIN);
    return -EAGAIN;
  }
  const int thread = schedule.spawn(std::move(owned), "worker");
  schedule.set_product_of(thread);
  schedule.always_point("thread start");
  return thread;
}

void join_thread(int thread) {
  Schedule::current()->join(thread);
}

void detach_thread(int thread) {
  Schedule::current()->step();
  Schedule::current()->note("thread detach", thread, 0);
}

int running_thread() {
  return Schedule::current() == nullptr ? -1 : Schedule::current()->thread();
}

void yield_running_thread() {
  if (Schedule::current() != nullptr) Schedule::current()->yield();
}

std::optional<std::string> read_variable(const char* name) {
  for (const auto& [variable, value] : settings().environment) {
    if (variable == name) return std::string(value.data(), value.size());
  }
  return std::nullopt;
}

}  // namespace flare::sim
