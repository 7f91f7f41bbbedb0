// sleeper.h: a thread asleep inside epoll_wait of the real kernel.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <thread>

namespace flare::sim::conformance {

class Sleeper {
 public:
  static constexpr int kBatch = 8;

  // Asleep when this returns, or back already.
  explicit Sleeper(int set);
  // Ends the wait if need be.
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Returns when the thread is where it will stay: back from its call, or asleep in it.
  void settle() const;
  bool returned() const { return done_.load(std::memory_order_acquire); }

  // After it returned.
  int count() const { return count_; }
  const epoll_event* events() const { return events_; }

 private:
  void run(int set);
  bool asleep() const;

  std::atomic<int> id_{0};
  std::atomic<bool> done_{false};  // release: after this the result is there
  int count_ = 0;
  epoll_event events_[kBatch];
  std::thread thread_;
};

}  // namespace flare::sim::conformance
