// What is Linux's own: descriptors run out, errno, and the machine.
#include "flare/kernel/epoll_kernel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

#include "flare/base/limits.h"
#include "flare/base/sync.h"
#include "kernel_world.h"

namespace flare::testing {
namespace {

class EpollKernelTest : public KernelContract<EpollKernel> {};

TEST_F(EpollKernelTest, AWakeKeepsErrno) {
  const UniqueFd fd = wake();
  World<EpollKernel>::saturate(fd.get());
  errno = EDOM;
  const Status status = EpollKernel::wake_signal(fd.get());
  EXPECT_EQ(EDOM, errno);
  EXPECT_EQ(EAGAIN, status.error);
}

// proves: INV-18
TEST_F(EpollKernelTest, WithoutAFreeNumberAcceptSaysSoAndTheClientWaits) {
  const UniqueFd listening = listener();
  const UniqueFd client(World<EpollKernel>::connect(address_of(listening)).value());
  ASSERT_TRUE(EpollKernel::wait_readable(listening.get(), 5000).value());
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &before));
  const int next = wake().get();
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &none));
  const Result<int> refused = EpollKernel::accept(listening.get());
  const Result<int> no_poller = EpollKernel::poller_open();
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &before));
  EXPECT_EQ(EMFILE, refused.error());
  EXPECT_EQ(EMFILE, no_poller.error());
  const UniqueFd accepted(EpollKernel::accept(listening.get()).value());
  EXPECT_EQ(next, accepted.get());
}

TEST_F(EpollKernelTest, TakesDeferAccept) {
  const UniqueFd fd = socket();
  EXPECT_TRUE(EpollKernel::set_defer_accept(fd.get(), 1).ok());
  EXPECT_GT(World<EpollKernel>::option(fd.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT), 0);
}

TEST(EpollKernelMachine, PinsTheCallingThreadAlone) {
  const std::vector<int> cpus = EpollKernel::allowed_cpus().value();
  ASSERT_FALSE(cpus.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  std::vector<int> inside;
  int error = -1;
  Thread thread = Thread::start([&] {
                    errno = EPERM;  // of an earlier call: no call clears it
                    error = EpollKernel::pin_current_thread(cpus.back()).error;
                    inside = EpollKernel::allowed_cpus().value();
                  }).value();
  thread.join();
  EXPECT_EQ(0, error);
  EXPECT_EQ(std::vector<int>{cpus.back()}, inside);
  EXPECT_EQ(cpus, EpollKernel::allowed_cpus().value());
}

TEST(EpollKernelMachine, RefusesAProcessorThatIsNotThere) {
  for (const int cpu : {-1, 65535, 65536, std::numeric_limits<int>::max()}) {
    EXPECT_EQ(EINVAL, EpollKernel::pin_current_thread(cpu).error) << cpu;
  }
}

TEST(EpollKernelMachine, ReadsFilesUpToItsBound) {
  EXPECT_EQ(ENOENT, EpollKernel::read_file("/proc/self/no-such-file").error());
  EXPECT_EQ(EISDIR, EpollKernel::read_file("/proc/self").error());
  EXPECT_NE(std::string::npos, EpollKernel::read_file("/proc/self/status").value().find("Pid:"));
  std::string path = ::testing::TempDir() + "flare_read_file_XXXXXX";
  const UniqueFd file(::mkstemp(path.data()));
  std::ofstream(path) << std::string(limits::kReadFileBytes + 1, 'x');
  EXPECT_EQ(limits::kReadFileBytes, EpollKernel::read_file(path.c_str()).value().size());
  std::remove(path.c_str());
}

TEST(EpollKernelMachine, ClocksAdvanceAndNumbersDiffer) {
  const MonoTime first = EpollKernel::now();
  EXPECT_LE(first, EpollKernel::now());
  EXPECT_GT(EpollKernel::wall_seconds(), 1'600'000'000);
  EXPECT_NE(EpollKernel::random_u64(), EpollKernel::random_u64());
}

[[noreturn]] void write_to_a_stderr_without_reader() {
  std::signal(SIGPIPE, SIG_DFL);
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) std::_Exit(1);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[0]);
  EpollKernel::write_error("lost", 4);
  ::dup2(saved, STDERR_FILENO);
  EpollKernel::write_error("kept", 4);
  std::_Exit(7);
}

TEST(EpollKernelMachineDeathTest, AStderrWithoutAReaderRaisesNoSignal) {
  EXPECT_EXIT(write_to_a_stderr_without_reader(), ::testing::ExitedWithCode(7), "kept");
}

}  // namespace
}  // namespace flare::testing
