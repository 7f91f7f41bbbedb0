#include "flare/base/sync.h"

#include <csignal>
#include <cstdlib>

#include "flare/base/assert.h"

namespace flare::inline FLARE_ABI {

namespace {

using Body = std::function<void()>;

void* run_body(void* argument) {
  const std::unique_ptr<Body> body(static_cast<Body*>(argument));
  (*body)();
  return nullptr;
}

}  // namespace

Thread::Thread(Thread&& other) noexcept : handle_(other.handle_), joinable_(std::exchange(other.joinable_, false)) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  FLARE_ASSERT(!joinable_, "a running thread's handle is overwritten");
  handle_ = other.handle_;
  joinable_ = std::exchange(other.joinable_, false);
  return *this;
}

Thread::~Thread() {
  FLARE_ASSERT(!joinable_, "a thread is destroyed that was neither joined nor detached");
}

Result<Thread> Thread::start(Body body) {
  auto owned = std::make_unique<Body>(std::move(body));
  // The mask is inherited at creation: set before it, no signal ever reaches the new thread.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Thread thread;
  const int error = ::pthread_create(&thread.handle_, nullptr, run_body, owned.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return Result<Thread>::failure(error);
  owned.release();
  thread.joinable_ = true;
  return Result<Thread>(std::move(thread));
}

void Thread::join() {
  FLARE_ASSERT(joinable_, "join of a thread that is not joinable");
  joinable_ = false;
  const int error = ::pthread_join(handle_, nullptr);
  FLARE_ASSERT(error == 0, "pthread_join failed");
}

void Thread::detach() {
  FLARE_ASSERT(joinable_, "detach of a thread that is not joinable");
  joinable_ = false;
  const int error = ::pthread_detach(handle_);
  FLARE_ASSERT(error == 0, "pthread_detach failed");
}

std::optional<std::string> read_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace flare::inline FLARE_ABI
