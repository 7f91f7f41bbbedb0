// fiber.h: a stack of its own that runs until it suspends; the threads of the model are fibers.
// Threads:    one real thread runs the host and all fibers.
// Owns:       its stack, which goes back to a pool when the fiber is destroyed, finished or not.
// Ordering:   an abandoned fiber is never unwound: what stands on its stack is forgotten.
// Source:     Boost.Context for the switch; the sanitizers' hooks are called here, since Debian's build has none.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "engine/sanitizers.h"

namespace flare::sim {

class Fiber {
 public:
  using Body = void (*)(void*);

  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() { discard(); }

  // Host only. The body begins at the first resume.
  void prepare(Body body, void* argument);
  // Host only: runs the fiber until it suspends or its body returns.
  void resume();
  // The running fiber only: back to the host.
  void suspend();
  bool is_finished() const { return finished_; }
  // The thread sanitizer's host has seen all that the fiber did, also where it is left in the middle. Host only.
  void end_before_host();
  // Gives the stack back. Host only.
  void discard();

 private:
  // What __cxa_get_globals() holds: fibers inside catch blocks would corrupt each other's without it.
  struct ExceptionState {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  static void entry(boost::context::detail::transfer_t from);
  void swap_exception_state();

  boost::context::detail::fcontext_t inside_ = nullptr;
  boost::context::detail::fcontext_t host_ = nullptr;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  char* stack_ = nullptr;
  bool finished_ = true;
  ExceptionState exceptions_;
#ifdef FLARE_SIM_TSAN
  void* tsan_ = nullptr;
  void* tsan_host_ = nullptr;
#endif
#ifdef FLARE_SIM_ASAN
  void* asan_fake_stack_ = nullptr;
  void* asan_host_fake_stack_ = nullptr;
  const void* asan_host_stack_ = nullptr;
  std::size_t asan_host_size_ = 0;
#endif
};

}  // namespace flare::sim
