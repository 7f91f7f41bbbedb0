// harness.h: what the tests of the scheduler share: gates, ledgers of descriptors and threads, frontends, sums.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "flare/scheduler/scheduler.h"
#include "support/deferred.h"
#include "support/line_client.h"
#include "support/line_protocol.h"
#include "support/own_loopback.h"
#include "support/strategy_name.h"
#include "support/wait_until.h"

namespace flare::testing {

// Holds threads until it is opened. Handlers share it by a counted pointer: a stuck one outlives its test's scope.
class Gate {
 public:
  void pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++entered_;
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool was_entered(int times = 1) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entered_ >= times;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int entered_ = 0;
  bool open_ = false;
};

// Opens a gate at the end of a scope, so that a failed ASSERT leaves no thread behind.
struct OpenAtExit {
  explicit OpenAtExit(std::shared_ptr<Gate> held) : gate(std::move(held)) {}
  ~OpenAtExit() { gate->open(); }
  OpenAtExit(const OpenAtExit&) = delete;
  OpenAtExit& operator=(const OpenAtExit&) = delete;
  std::shared_ptr<Gate> gate;
};

inline std::map<std::string, std::string> folder_entries(const char* path) {
  std::map<std::string, std::string> entries;
  DIR* folder = ::opendir(path);
  if (folder == nullptr) return entries;
  const std::string own = std::to_string(::dirfd(folder));
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name[0] == '.' || name == own) continue;
    std::array<char, 256> target{};
    const ssize_t size = ::readlinkat(::dirfd(folder), entry->d_name, target.data(), target.size() - 1);
    entries[name] = size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : "";
  }
  ::closedir(folder);
  return entries;
}

// The descriptors, each by number and by what it is (the inode of a socket), and the number of threads.
class Ledger {
 public:
  Ledger() {
    std::thread([] {}).join();  // a sanitizer starts a thread of its own with the first one of the program
    descriptors_ = folder_entries("/proc/self/fd");
    threads_ = folder_entries("/proc/self/task");
  }
  // A joined thread may stand in /proc for a while: one that went meanwhile may have been joined before, so what counts
  // is which are there, not how many.
  ::testing::AssertionResult is_as_before() const {
    if (wait_until([this] { return folder_entries("/proc/self/fd") == descriptors_ && new_threads() == 0; })) {
      return ::testing::AssertionSuccess();
    }
    ::testing::AssertionResult failure = ::testing::AssertionFailure();
    failure << "threads " << threads_.size() << " before, of those now " << new_threads() << " are new;";
    for (const auto& [number, target] : folder_entries("/proc/self/fd")) {
      const auto before = descriptors_.find(number);
      if (before == descriptors_.end() || before->second != target) failure << " new: " << number << " " << target;
    }
    return failure;
  }
  // True as soon as there are just count threads that were not there. A crash is known before its worker has given its
  // listener up: only when its thread is over do new clients reach none but its peers.
  bool await_threads_more(int count) const {
    return wait_until([&] { return new_threads() == count; });
  }
  static std::size_t threads() { return folder_entries("/proc/self/task").size(); }

 private:
  std::ptrdiff_t new_threads() const {
    const std::map<std::string, std::string> now = folder_entries("/proc/self/task");
    return std::count_if(now.begin(), now.end(), [this](const auto& one) { return threads_.count(one.first) == 0; });
  }

  std::map<std::string, std::string> descriptors_;
  std::map<std::string, std::string> threads_;  // by their numbers, which come again only after all others
};

// Sets or (with nullptr) unsets a variable for a scope.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    set(value);
  }
  ~ScopedEnvironment() { set(before_ ? before_->c_str() : nullptr); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  void set(const char* value) { value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1); }
  const char* name_;
  std::optional<std::string> before_;
};

// What went to the error sink.
class Lines {
 public:
  ErrorSink sink() {
    return [kept = kept_](std::string_view line) {
      const std::lock_guard<std::mutex> lock(kept->mutex);
      kept->text += std::string(line) + "\n";
    };
  }
  std::string text() const {
    const std::lock_guard<std::mutex> lock(kept_->mutex);
    return kept_->text;
  }
  bool has(const std::string& part) const { return text().find(part) != std::string::npos; }

 private:
  struct Kept {
    std::mutex mutex;
    std::string text;
  };
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

using LineScheduler = Scheduler<LineFrontend>;

inline LineFrontend echo() {
  return LineFrontend([](const std::string& line, int) { return line; });
}
inline LineFrontend tell_worker() {
  return LineFrontend([](const std::string&, int worker) { return std::to_string(worker); });
}
// Answers every line with itself; "block" first passes the gate.
inline LineFrontend blocking(const std::shared_ptr<Gate>& gate) {
  return LineFrontend([gate](const std::string& line, int) {
    if (line == "block") gate->pass();
    return line;
  });
}
inline SchedulerOptions with(ListenerStrategy strategy, const Lines* lines = nullptr) {
  SchedulerOptions options;
  options.strategy = strategy;
  options.policy = HandoffPolicy{};
  options.listener.defer_accept_s = defer_accept_s();
  if (lines != nullptr) options.serving.error_sink = const_cast<Lines*>(lines)->sink();
  return options;
}
template <class F>
Scheduler<F> start_on(const SocketAddress& address, F frontend, int workers, SchedulerOptions options = {}) {
  return Scheduler<F>::start(address, std::move(frontend), workers, true, {}, std::move(options));
}
template <class F>
Scheduler<F> start_any(F frontend, int workers, SchedulerOptions options = {}) {
  return start_on(own_loopback(), std::move(frontend), workers, std::move(options));
}

// One report out of all: every number added up.
inline ShutdownReport total(const std::vector<ShutdownReport>& reports) {
  ShutdownReport sum;
  for (const ShutdownReport& one : reports) {
    sum.accepted += one.accepted;
    sum.received += one.received;
    sum.handed_out += one.handed_out;
    sum.finished += one.finished;
    sum.cut += one.cut;
    sum.left += one.left;
    sum.requests += one.requests;
    sum.drained += one.drained;
    sum.timed_out += one.timed_out;
    sum.in_flight_at_deadline += one.in_flight_at_deadline;
    sum.crashed += one.crashed;
    sum.stuck += one.stuck;
    for (std::size_t i = 0; i < kCloseReasons; ++i) sum.by_reason[i] += one.by_reason[i];
  }
  return sum;
}
inline std::int64_t because(const ShutdownReport& report, CloseReason reason) {
  return report.by_reason[static_cast<std::size_t>(reason)];
}
inline std::uint64_t live(const std::vector<WorkerSnapshot>& stats) {
  std::uint64_t sum = 0;
  for (const WorkerSnapshot& one : stats) sum += one.live;
  return sum;
}
// Each worker is inside its loop, and has opened what it opens.
template <class F>
::testing::AssertionResult all_workers_run(const Scheduler<F>& scheduler) {
  const auto run = [&] {
    for (const WorkerSnapshot& one : scheduler.stats()) {
      if (one.ticks == 0) return false;
    }
    return true;
  };
  return wait_until(run) ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << "a worker has no tick";
}
// The rules that hold for the reports of any stop.
inline void expect_sound(const std::vector<ShutdownReport>& reports) {
  EXPECT_TRUE(adds_up(reports));
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const ShutdownReport& one = reports[i];
    EXPECT_EQ(one.worker, static_cast<int>(i));
    EXPECT_TRUE(one.identity()) << "worker " << i << ": accepted " << one.accepted << " received " << one.received
                                << " finished " << one.finished << " handed out " << one.handed_out << " cut "
                                << one.cut << " left " << one.left;
    std::int64_t reasons = 0;
    for (const std::int64_t count : one.by_reason) reasons += count;
    EXPECT_EQ(one.finished, reasons);
    EXPECT_LE(one.drained, one.finished);
    EXPECT_LE(one.timed_out, one.cut);
    EXPECT_EQ(one.in_flight_at_deadline, one.timed_out + one.left);
    if (one.stuck == 0) {
      EXPECT_EQ(one.left, 0) << "worker " << i;
    }
    EXPECT_EQ(one.crashed == 0, one.error.empty()) << one.error;
  }
}

}  // namespace flare::testing
