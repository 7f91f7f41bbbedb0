// sync.h: the door to threads: mutex, condition, atomic, thread, environment.         Public header.
// Threads:    each type says so.
// Owns:       a Thread owns its thread until join or detach.
// Bounds:     none.
// Errors:     Thread::start returns the error number; a misused handle aborts; nothing else fails.
// Ordering:   Mutex: unlock happens before the next lock. Thread: start happens before the body, the body before join.
// Invariants: the only file of runtime/ (with its .cpp) that names std::mutex, std::atomic, std::thread or getenv, so
//             that the model build can put a controlled scheduler behind every one of them.
// Not here:   descriptors, clocks, randomness (kernel/system_kernel.h).
// Source:     own design.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "flare/base/abi.h"
#include "flare/base/result.h"
#include "flare/base/thread_annotations.h"

#ifdef FLARE_MODEL
#include "flare_model/sync_model.h"
#else
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace flare::inline FLARE_ABI {

template <class T>
using Atomic = std::atomic<T>;

// A counted pointer to what two threads hold.
template <class T>
using Shared = std::shared_ptr<T>;

// A plain field that threads share and that something else orders. The model build checks that it does.
template <class T>
using Checked = T;

// A defect that the tests of the model build switch on to prove that they would find it; never on here.
#define FLARE_MUTANT(name) false

class FLARE_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() FLARE_ACQUIRE() { mutex_.lock(); }
  void unlock() FLARE_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Waits are always for a predicate that the mutex guards; there is no bare wait.
class CondVar {
 public:
  // The caller holds mutex; it is released while waiting and held again on return.
  template <class Predicate>
  void wait(Mutex& mutex, Predicate predicate) FLARE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock, std::move(predicate));
    lock.release();
  }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

// Movable handle of one thread. Destroying a handle that was neither joined nor detached aborts.
class Thread {
 public:
  Thread() = default;
  Thread(Thread&& other) noexcept;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread();

  // Starts body on a new thread that blocks every signal. Error: what pthread_create gave (EAGAIN, ...).
  static Result<Thread> start(std::function<void()> body);
  bool joinable() const { return joinable_; }
  void join();
  void detach();

 private:
  pthread_t handle_{};
  bool joinable_ = false;
};

// A number that no other live thread has.
using ThreadId = pthread_t;
inline ThreadId current_thread_id() {
  return ::pthread_self();
}
inline bool same_thread(ThreadId a, ThreadId b) {
  return ::pthread_equal(a, b) != 0;
}

// Lets another thread run. Any thread.
inline void yield_thread() {
  ::sched_yield();
}

// The variable's value; nothing when it is unset. Control thread, at start.
std::optional<std::string> read_environment(const char* name);

}  // namespace flare::inline FLARE_ABI
#endif

namespace flare::inline FLARE_ABI {

// A new T that several holders share.
template <class T, class... Arguments>
Shared<T> share(Arguments&&... arguments) {
  return Shared<T>(new T(std::forward<Arguments>(arguments)...));
}

// Holds a Mutex for a scope.
class FLARE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) FLARE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() FLARE_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace flare::inline FLARE_ABI
