#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "flare/base/sync.h"
#include "support/fault_injection.h"

namespace flare::testing {
namespace {

TEST(Thread, RunsItsBodyBeforeJoinReturns) {
  int value = 0;  // not atomic: start and join order it
  Thread thread = Thread::start([&value] { value = 42; }).value();
  thread.join();
  EXPECT_EQ(42, value);
  EXPECT_FALSE(thread.joinable());
}

TEST(Thread, BlocksEverySignalInTheNewThreadAndNoneInTheOld) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  sigset_t inside;
  ::sigemptyset(&inside);
  Thread thread = Thread::start([&inside] { ::pthread_sigmask(SIG_SETMASK, nullptr, &inside); }).value();
  thread.join();
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGCHLD}) {
    EXPECT_EQ(1, ::sigismember(&inside, signal)) << signal;
    EXPECT_EQ(::sigismember(&before, signal), ::sigismember(&after, signal)) << signal;
  }
}

TEST(Thread, AFailedStartReturnsTheErrorAndRunsNothing) {
  faults::Scope scope;
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  faults::fail(faults::Symbol::kPthreadCreate, 1, EAGAIN);
  bool ran = false;
  const auto failed = Thread::start([&ran] { ran = true; });
  EXPECT_EQ(EAGAIN, failed.error());
  EXPECT_FALSE(ran);
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(::sigismember(&before, SIGTERM), ::sigismember(&after, SIGTERM));
}

TEST(Thread, MoveHandsTheThreadOn) {
  Thread first = Thread::start([] {}).value();
  Thread second(std::move(first));
  EXPECT_FALSE(first.joinable());  // NOLINT(bugprone-use-after-move)
  Thread third;
  third = std::move(second);
  EXPECT_TRUE(third.joinable());
  third.join();
}

TEST(Thread, ADetachedThreadOutlivesItsHandle) {
  const auto done = share<Atomic<bool>>(false);
  Thread thread = Thread::start([done] { done->store(true); }).value();
  thread.detach();
  EXPECT_FALSE(thread.joinable());
  while (!done->load()) {
  }
}

TEST(ThreadDeathTest, AMisusedHandleAborts) {
  EXPECT_DEATH(Thread().join(), "not joinable");
  EXPECT_DEATH(Thread().detach(), "not joinable");
  EXPECT_DEATH({ const Thread forgotten = Thread::start([] {}).value(); }, "neither joined nor detached");
}

TEST(Mutex, GuardsAndWakesWaiters) {
  Mutex mutex;
  CondVar changed;
  int stage = 0;
  Thread other = Thread::start([&] {
                   MutexLock lock(mutex);
                   changed.wait(mutex, [&] { return stage == 1; });
                   stage = 2;
                   changed.notify_all();
                 }).value();
  {
    MutexLock lock(mutex);
    stage = 1;
    changed.notify_all();
    changed.wait(mutex, [&] { return stage == 2; });
  }
  other.join();
  EXPECT_EQ(2, stage);
}

TEST(Environment, TellsUnsetFromEmpty) {
  ::unsetenv("FLARE_TEST_VARIABLE");
  EXPECT_EQ(std::nullopt, read_environment("FLARE_TEST_VARIABLE"));
  ::setenv("FLARE_TEST_VARIABLE", "", 1);
  EXPECT_EQ("", read_environment("FLARE_TEST_VARIABLE"));
  ::setenv("FLARE_TEST_VARIABLE", "on", 1);
  EXPECT_EQ("on", read_environment("FLARE_TEST_VARIABLE"));
  ::unsetenv("FLARE_TEST_VARIABLE");
}

}  // namespace
}  // namespace flare::testing
