// sync_model.h: what base/sync.h is in the model build: the same names over a controlled scheduler.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/atomic_word.h"
#include "engine/model_sync.h"
#include "engine/mutants.h"
#include "engine/weakening.h"
#include "flare/base/abi.h"
#include "flare/base/assert.h"
#include "flare/base/result.h"
#include "flare/base/thread_annotations.h"
#include "flare_model/shared_model.h"

namespace flare::inline FLARE_ABI {

template <class T>
class Atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));

 public:
  Atomic() : word_(to_bits(T{})) {}
  Atomic(T value) : word_(to_bits(value)) {}  // NOLINT(google-explicit-constructor)
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  // site: the line of the product that asks. It matters only to a test that weakens one order.
  T load(std::memory_order order = std::memory_order_seq_cst,
         std::source_location site = std::source_location::current()) const {
    return from_bits(sim::load(word_, sim::weakened(order, site)));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst,
             std::source_location site = std::source_location::current()) {
    sim::store(word_, to_bits(value), sim::weakened(order, site));
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst,
             std::source_location site = std::source_location::current()) {
    const auto combine = [](std::uint64_t, std::uint64_t operand) { return operand; };
    return from_bits(sim::read_modify_write(word_, combine, to_bits(value), sim::weakened(order, site)));
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst,
              std::source_location site = std::source_location::current()) {
    const auto combine = [](std::uint64_t before, std::uint64_t operand) {
      return to_bits(static_cast<T>(from_bits(before) + from_bits(operand)));
    };
    return from_bits(sim::read_modify_write(word_, combine, to_bits(value), sim::weakened(order, site)));
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst,
              std::source_location site = std::source_location::current()) {
    const auto combine = [](std::uint64_t before, std::uint64_t operand) {
      return to_bits(static_cast<T>(from_bits(before) - from_bits(operand)));
    };
    return from_bits(sim::read_modify_write(word_, combine, to_bits(value), sim::weakened(order, site)));
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure,
                               std::source_location site = std::source_location::current()) {
    return compare_exchange(expected, desired, success, failure, false, site);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure,
                             std::source_location site = std::source_location::current()) {
    return compare_exchange(expected, desired, success, failure, true, site);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst,
                               std::source_location site = std::source_location::current()) {
    return compare_exchange(expected, desired, order, on_failure(order), false, site);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst,
                             std::source_location site = std::source_location::current()) {
    return compare_exchange(expected, desired, order, on_failure(order), true, site);
  }

 private:
  static std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  static T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  static constexpr std::memory_order on_failure(std::memory_order order) {
    if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
    return order == std::memory_order_release ? std::memory_order_relaxed : order;
  }
  bool compare_exchange(T& expected, T desired, std::memory_order success, std::memory_order failure, bool weak,
                        const std::source_location& site) {
    std::uint64_t bits = to_bits(expected);
    const bool done = sim::compare_exchange(word_, bits, to_bits(desired), sim::weakened(success, site),
                                            sim::weakened(failure, site), weak);
    expected = from_bits(bits);
    return done;
  }

  sim::AtomicWord word_;
};

class FLARE_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() FLARE_ACQUIRE() { mutex_.lock(); }
  void unlock() FLARE_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  sim::ModelMutex mutex_;
};

class CondVar {
 public:
  template <class Predicate>
  void wait(Mutex& mutex, Predicate predicate) FLARE_REQUIRES(mutex) {
    condition_.wait_for(mutex.mutex_, std::move(predicate));
  }
  void notify_all() { condition_.notify_all(); }

 private:
  sim::ModelCondition condition_;
};

class Thread {
 public:
  Thread() = default;
  Thread(Thread&& other) noexcept : thread_(other.thread_), joinable_(std::exchange(other.joinable_, false)) {}
  Thread& operator=(Thread&& other) noexcept {
    FLARE_ASSERT(!joinable_, "a running thread's handle is overwritten");
    thread_ = other.thread_;
    joinable_ = std::exchange(other.joinable_, false);
    return *this;
  }
  ~Thread() { FLARE_ASSERT(!joinable_, "a thread is destroyed that was neither joined nor detached"); }

  static Result<Thread> start(std::function<void()> body) {
    const int thread = sim::start_thread(std::move(body));
    if (thread < 0) return Result<Thread>::failure(-thread);
    Thread handle;
    handle.thread_ = thread;
    handle.joinable_ = true;
    return Result<Thread>(std::move(handle));
  }
  bool joinable() const { return joinable_; }
  void join() {
    FLARE_ASSERT(joinable_, "join of a thread that is not joinable");
    joinable_ = false;
    sim::join_thread(thread_);
  }
  void detach() {
    FLARE_ASSERT(joinable_, "detach of a thread that is not joinable");
    joinable_ = false;
    sim::detach_thread(thread_);
  }

 private:
  int thread_ = -1;
  bool joinable_ = false;
};

// A plain field that threads share, ordered by something else: a use that nothing orders fails the schedule.
template <class T>
class Checked {
 public:
  Checked() = default;
  Checked(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Checked& operator=(T value) {
    watch_.write();
    value_ = std::move(value);
    return *this;
  }
  operator const T&() const {  // NOLINT(google-explicit-constructor)
    watch_.read();
    return value_;
  }

 private:
  T value_{};
  mutable sim::RaceWatch watch_;
};

using ThreadId = int;
inline ThreadId current_thread_id() {
  return sim::running_thread();
}
inline bool same_thread(ThreadId a, ThreadId b) {
  return a == b;
}
inline void yield_thread() {
  sim::yield_running_thread();
}
inline std::optional<std::string> read_environment(const char* name) {
  return sim::read_variable(name);
}

}  // namespace flare::inline FLARE_ABI
