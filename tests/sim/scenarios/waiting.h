// waiting.h: how scenarios wait: for everybody to be asleep, for a handler, and not longer than they may.
// Threads:    threads of a schedule.
// Ordering:   virtual time goes on only when nobody can run, so whatever needs no timer needs no time at all.
#pragma once

#include "flare/base/sync.h"
#include "kernel/client.h"
#include "scenarios/server_world.h"

namespace flare::sim {

inline constexpr SimTime kMillisecond = 1'000'000;

inline void wait_for(SimTime duration) {
  static_cast<void>(
      Schedule::current()->block("time", [](void*) { return false; }, nullptr, Schedule::current()->now() + duration));
}
// Until nobody has anything left to do. It takes one millisecond.
inline void settle() {
  wait_for(kMillisecond);
}

// What its scope waits for must come within the time given: a wake that was lost and that a timer mends is a failure.
class Within {
 public:
  explicit Within(SimTime limit)
      : actor_("limit", [this, limit] {
          const bool in_time = Schedule::current()->block(
              "the end of a wait", [](void* over) { return *static_cast<bool*>(over); }, &over_,
              Schedule::current()->now() + limit);
          require(in_time, "late", "what needs no timer waited for one, or for ever");
        }) {}
  ~Within() { over_ = true; }

 private:
  bool over_ = false;
  Actor actor_;
};

// A gate that a handler waits at: opened by the scenario, in virtual time.
struct Gate {
  Mutex mutex;
  CondVar changed;
  bool open = false;
  bool entered = false;
  void pass() {
    mutex.lock();
    entered = true;
    changed.notify_all();
    changed.wait(mutex, [this] { return open; });
    mutex.unlock();
  }
  void await_entered() {
    mutex.lock();
    changed.wait(mutex, [this] { return entered; });
    mutex.unlock();
  }
  void let_go() {
    mutex.lock();
    open = true;
    changed.notify_all();
    mutex.unlock();
  }
};

}  // namespace flare::sim
