// The machine's part of EpollKernel: processors, files, clocks, randomness, stderr.
#include <fcntl.h>
#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "flare/base/assert.h"
#include "flare/base/limits.h"
#include "flare/kernel/epoll_kernel.h"

namespace flare::inline FLARE_ABI {

namespace {

constexpr std::size_t kMostCpus = 1 << 16;  // far above what Linux can be built for

// A set of processors of any size: cpu_set_t alone ends at 1024.
class CpuSet {
 public:
  explicit CpuSet(std::size_t count) : count_(count), words_((CPU_ALLOC_SIZE(count) + 7) / 8) {}
  std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }
  cpu_set_t* data() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
  std::size_t count() const { return count_; }

 private:
  std::size_t count_;
  std::vector<std::uint64_t> words_;
};

}  // namespace

Result<std::vector<int>> EpollKernel::allowed_cpus() {
  // The kernel refuses a set that is smaller than its own with EINVAL.
  for (std::size_t count = 1024;; count *= 2) {
    CpuSet set(count);
    const int error = ::sched_getaffinity(0, set.bytes(), set.data()) < 0 ? errno : 0;
    if (error == EINVAL && count < kMostCpus) continue;
    if (error != 0) return Result<std::vector<int>>::failure(error);
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < set.count(); ++cpu) {
      if (CPU_ISSET_S(cpu, set.bytes(), set.data())) cpus.push_back(static_cast<int>(cpu));
    }
    return Result<std::vector<int>>(std::move(cpus));
  }
}

Status EpollKernel::pin_current_thread(int cpu) {
  if (cpu < 0 || static_cast<std::size_t>(cpu) >= kMostCpus) return Status{EINVAL};
  const auto index = static_cast<std::size_t>(cpu);
  CpuSet set(index + 1);
  CPU_SET_S(index, set.bytes(), set.data());
  return Status{::sched_setaffinity(0, set.bytes(), set.data()) < 0 ? errno : 0};
}

Result<std::string> EpollKernel::read_file(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Result<std::string>::failure(errno);
  std::string text(limits::kReadFileBytes, '\0');
  std::size_t filled = 0;
  int error = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(fd, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (error != 0) return Result<std::string>::failure(error);
  text.resize(filled);
  return Result<std::string>(std::move(text));
}

MonoTime EpollKernel::now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return MonoTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

std::int64_t EpollKernel::wall_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec;
}

std::uint64_t EpollKernel::random_u64() {
  std::uint64_t value = 0;
  ssize_t got = 0;
  do {
    got = ::getrandom(&value, sizeof value, 0);
  } while (got < 0 && errno == EINTR);
  FLARE_ASSERT(got == static_cast<ssize_t>(sizeof value), "getrandom(2) gave no randomness");
  return value;
}

void EpollKernel::write_error(const void* data, std::size_t size) {
  // stderr may be a pipe whose reader is gone: the SIGPIPE of this write is taken back, one that waited before stays.
  sigset_t pipe_signal;
  sigset_t pending;
  sigset_t before;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = ::write(STDERR_FILENO, data, size);
  if (written < 0 && errno == EPIPE && ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    ::sigtimedwait(&pipe_signal, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace flare::inline FLARE_ABI
