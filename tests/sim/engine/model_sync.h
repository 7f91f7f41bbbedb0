// model_sync.h: mutex, condition and threads of the model, below the names that the product gives them.
// Threads:    threads of a schedule. On the host a mutex does nothing.
// Ordering:   as the real ones: unlock before the next lock, start before the body, the body before join.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/schedule.h"

#if defined(__clang__)
#define FLARE_SIM_UNCHECKED __attribute__((no_thread_safety_analysis))
#else
#define FLARE_SIM_UNCHECKED
#endif

namespace flare::sim {

class ModelMutex {
 public:
  void lock();
  void unlock();

 private:
  friend class ModelCondition;
  void take();
  void release();

  SharedObject object_;
  VectorClock published_;
  int owner_ = -1;
};

class ModelCondition {
 public:
  // Releases mutex, waits for a notification (or wakes without one), takes it again.
  void wait(ModelMutex& mutex);
  // Not annotated: which lock the predicate needs is said where the product's condition is defined.
  template <class Predicate>
  void wait_for(ModelMutex& mutex, Predicate predicate) {
    while (!call(predicate)) wait(mutex);
  }
  void notify_all();

 private:
  template <class Predicate>
  static bool call(Predicate& predicate) FLARE_SIM_UNCHECKED {
    return predicate();
  }

  SharedObject object_;  // for histories: a notification is part of a state
  std::uint64_t notified_ = 0;
};

// The number of the new thread, or minus the error number.
int start_thread(std::function<void()>&& body);
void join_thread(int thread);
void detach_thread(int thread);
int running_thread();
void yield_running_thread();
std::optional<std::string> read_variable(const char* name);

}  // namespace flare::sim
