// recorder.h: writes down what real threads do to a queue. One log per thread, no lock.
// Threads:  each log belongs to one thread; merge() when all have ended.
// Bounds:   each log has its memory from the start; an operation beyond it throws std::length_error.
// Ordering: the clock's numbers order the events. Two operations of which one ended before the other began are ordered
//           by the clock itself, so a recorded run has fewer data races for ThreadSanitizer to see than a bare one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <vector>

#include "history/long_history.h"

namespace flare::sim {

// acq_rel: the operation can move neither before the number of its call nor behind that of its return.
class SharedCounter {
 public:
  std::uint64_t operator()() { return next_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

template <class Clock>
class ThreadLog {
 public:
  ThreadLog(Clock& clock, unsigned thread, std::size_t operations) : clock_(clock), thread_(thread) {
    operations_.reserve(operations);
    values_.reserve(operations);
  }

  // do_it() is the operation; its result is handed on. A queue that only says no makes a refusal without a reason.
  template <class DoIt>
  bool push(std::int64_t value, DoIt&& do_it) {
    Operation& mine = begin(OpKind::kPush);
    mine.value = value;
    mine.call = clock_();
    const bool accepted = do_it();
    mine.ret = clock_();
    mine.outcome = accepted ? Outcome::kOk : Outcome::kRefused;
    return accepted;
  }
  template <class DoIt>
  std::optional<std::int64_t> pop(DoIt&& do_it) {
    Operation& mine = begin(OpKind::kPop);
    mine.call = clock_();
    const std::optional<std::int64_t> got = do_it();
    mine.ret = clock_();
    mine.outcome = got ? Outcome::kOk : Outcome::kEmpty;
    mine.value = got.value_or(0);
    return got;
  }
  template <class DoIt>
  std::size_t size(DoIt&& do_it) {
    Operation& mine = begin(OpKind::kSize);
    mine.call = clock_();
    const std::size_t size = do_it();
    mine.ret = clock_();
    mine.outcome = Outcome::kOk;
    mine.value = static_cast<std::int64_t>(size);
    return size;
  }
  // do_it returns what it took, a range of values.
  template <class DoIt>
  void drain(DoIt&& do_it) {
    take_all(OpKind::kDrain, do_it);
  }
  template <class DoIt>
  void close(DoIt&& do_it) {
    take_all(OpKind::kClose, do_it);
  }

  std::size_t operations() const { return operations_.size(); }

 private:
  template <class>
  friend class Recorder;

  Operation& begin(OpKind kind) {
    if (operations_.size() == operations_.capacity()) throw std::length_error("a thread's log is full");
    Operation& mine = operations_.emplace_back();
    mine.kind = kind;
    mine.thread = static_cast<std::uint16_t>(thread_);
    return mine;
  }
  template <class DoIt>
  void take_all(OpKind kind, DoIt& do_it) {
    Operation& mine = begin(kind);
    mine.call = clock_();
    const auto& taken = do_it();
    mine.ret = clock_();
    mine.outcome = Outcome::kOk;
    mine.list_at = values_.size();
    mine.list_size = static_cast<std::uint32_t>(std::size(taken));
    values_.insert(values_.end(), std::begin(taken), std::end(taken));
  }

  Clock& clock_;
  unsigned thread_;
  std::vector<Operation> operations_;
  std::vector<std::int64_t> values_;
};

template <class Clock = SharedCounter>
class Recorder {
 public:
  Recorder(Clock& clock, unsigned threads, std::size_t operations_of_each) {
    for (unsigned thread = 0; thread < threads; ++thread) logs_.emplace_back(clock, thread, operations_of_each);
  }

  ThreadLog<Clock>& log(unsigned thread) { return logs_[thread]; }

  // All operations in the order of their calls.
  LongHistory merge() const {
    LongHistory all;
    for (const ThreadLog<Clock>& log : logs_) {
      const std::size_t shift = all.values.size();
      all.values.insert(all.values.end(), log.values_.begin(), log.values_.end());
      for (Operation operation : log.operations_) {
        operation.list_at += shift;
        all.operations.push_back(operation);
      }
    }
    std::sort(all.operations.begin(), all.operations.end(),
              [](const Operation& a, const Operation& b) { return a.call < b.call; });
    return all;
  }

 private:
  std::deque<ThreadLog<Clock>> logs_;
};

}  // namespace flare::sim
