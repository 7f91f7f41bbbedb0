#include "conformance/sleeper.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace flare::sim::conformance {

namespace {

// Only there to end epoll_wait with EINTR.
void on_signal(int) {}

}  // namespace

Sleeper::Sleeper(int set) {
  struct sigaction action{};
  action.sa_handler = on_signal;
  ::sigaction(SIGUSR1, &action, nullptr);
  thread_ = std::thread([this, set] { run(set); });
  settle();
}

Sleeper::~Sleeper() {
  settle();
  if (!returned()) ::pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

void Sleeper::run(int set) {
  id_.store(static_cast<int>(::syscall(SYS_gettid)), std::memory_order_release);
  count_ = ::epoll_wait(set, events_, kBatch, -1);
  done_.store(true, std::memory_order_release);
}

void Sleeper::settle() const {
  while (!returned() && !asleep()) ::sched_yield();
}

// The kernel says in which call a thread sleeps; of one that runs, or is about to, it says "running".
bool Sleeper::asleep() const {
  const int id = id_.load(std::memory_order_acquire);
  if (id == 0) return false;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", id);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[32] = {};
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  return size > 0 && std::strtol(text, nullptr, 10) == SYS_epoll_wait;
}

}  // namespace flare::sim::conformance
