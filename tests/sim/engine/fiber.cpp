#include "engine/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/tsan.h"

namespace flare::sim {

namespace {

constexpr std::size_t kStackSize = 256 * 1024;
constexpr std::size_t kGuardSize = 4096;

// Stacks are reused: making one costs more than a whole small schedule.
std::vector<char*>& free_stacks() {
  static std::vector<char*> stacks;
  return stacks;
}

char* take_stack() {
  std::vector<char*>& stacks = free_stacks();
  if (!stacks.empty()) {
    char* stack = stacks.back();
    stacks.pop_back();
    return stack;
  }
  void* memory = ::mmap(nullptr, kGuardSize + kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  if (::mprotect(memory, kGuardSize, PROT_NONE) != 0) std::abort();
  return static_cast<char*>(memory) + kGuardSize;
}

}  // namespace

void Fiber::prepare(Body body, void* argument) {
  discard();
  stack_ = take_stack();
  body_ = body;
  argument_ = argument;
  finished_ = false;
  exceptions_ = {};
  inside_ = boost::context::detail::make_fcontext(stack_ + kStackSize, kStackSize, entry);
  tsan::allocated(stack_, kStackSize);
#ifdef FLARE_SIM_TSAN
  tsan_ = __tsan_create_fiber(0);
#endif
}

void Fiber::entry(boost::context::detail::transfer_t from) {
  auto* self = static_cast<Fiber*>(from.data);
  self->host_ = from.fctx;
#ifdef FLARE_SIM_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &self->asan_host_stack_, &self->asan_host_size_);
#endif
  self->body_(self->argument_);
  self->finished_ = true;
  self->suspend();
  std::abort();  // a finished fiber is never resumed
}

void Fiber::swap_exception_state() {
  auto* live = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  std::swap(*live, exceptions_);
}

void Fiber::resume() {
  swap_exception_state();
#ifdef FLARE_SIM_TSAN
  tsan_host_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef FLARE_SIM_ASAN
  __sanitizer_start_switch_fiber(&asan_host_fake_stack_, stack_, kStackSize);
#endif
  inside_ = boost::context::detail::jump_fcontext(inside_, this).fctx;
#ifdef FLARE_SIM_ASAN
  __sanitizer_finish_switch_fiber(asan_host_fake_stack_, nullptr, nullptr);
#endif
  swap_exception_state();
}

void Fiber::suspend() {
  tsan::Engine::end_all();
#ifdef FLARE_SIM_TSAN
  __tsan_switch_to_fiber(tsan_host_, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef FLARE_SIM_ASAN
  // A finished fiber's fake stack is destroyed: nobody comes back to it.
  __sanitizer_start_switch_fiber(finished_ ? nullptr : &asan_fake_stack_, asan_host_stack_, asan_host_size_);
#endif
  host_ = boost::context::detail::jump_fcontext(host_, nullptr).fctx;
#ifdef FLARE_SIM_ASAN
  __sanitizer_finish_switch_fiber(asan_fake_stack_, &asan_host_stack_, &asan_host_size_);
#endif
}

void Fiber::end_before_host() {
#ifdef FLARE_SIM_TSAN
  void* host = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_, __tsan_switch_to_fiber_no_sync);
  __tsan_switch_to_fiber(host, 0);  // of the sanitizer's two contexts only: nothing runs in between
#endif
}

void Fiber::discard() {
  if (stack_ == nullptr) return;
#ifdef FLARE_SIM_TSAN
  __tsan_destroy_fiber(tsan_);
#endif
  tsan::forgotten(stack_, kStackSize);
#ifdef FLARE_SIM_ASAN
  __asan_unpoison_memory_region(stack_, kStackSize);
#endif
  free_stacks().push_back(std::exchange(stack_, nullptr));
  finished_ = true;
}

}  // namespace flare::sim
