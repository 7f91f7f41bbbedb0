// tsan.h: what the thread sanitizer is told of model threads, so that it judges them as real ones. Nothing elsewhere.
// Threads:    threads of a schedule and the host.
// Ordering:   a switch of fibers orders nothing. What orders are locks, atomics, starts, joins, counted pointers and
//             wakes of the model; each says so here, as the runtime's own interceptors do for real ones.
// Not here:   older stores: the sanitizer knows the newest one of a word.
// Source:     the interfaces of compiler-rt: fibers, and heaps that it does not manage itself.
#pragma once

#include <cstddef>

#include "engine/sanitizers.h"

#ifdef FLARE_SIM_TSAN
extern "C" {
void __tsan_java_init(unsigned long begin, unsigned long size);
void __tsan_java_alloc(unsigned long at, unsigned long size);
void __tsan_java_free(unsigned long at, unsigned long size);
void __tsan_java_release_store(unsigned long at);
void __tsan_ignore_thread_begin();
void __tsan_ignore_thread_end();
}
#endif

namespace flare::sim::tsan {

#ifdef FLARE_SIM_TSAN

inline unsigned long number_of(const void* at) {
  return reinterpret_cast<unsigned long>(at);
}

// All that the running thread did is before what a thread does that acquires the same address later.
inline void release(const void* at) {
  __tsan_release(const_cast<void*>(at));
}
// The same, and what was released here before is not.
inline void release_store(const void* at) {
  __tsan_java_release_store(number_of(at));
}
inline void acquire(const void* at) {
  __tsan_acquire(const_cast<void*>(at));
}
// A heap of ours.
inline void heap(const void* at, std::size_t size) {
  __tsan_java_init(number_of(at), size);
}
// Memory that was used before and is new now: nobody's uses of it count any more.
inline void allocated(const void* at, std::size_t size) {
  __tsan_java_alloc(number_of(at), size);
}
inline void forgotten(const void* at, std::size_t size) {
  if (size != 0) __tsan_java_free(number_of(at), size);
}
// While it stands the running thread's accesses are the engine's own: one real thread, no races.
class Engine {
 public:
  Engine() {
    __tsan_ignore_thread_begin();
    ++depth;
  }
  ~Engine() { end(); }
  // A thread that is abandoned inside of the engine comes back to none of its scopes.
  static void end_all() {
    while (depth > 0) end();
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

 private:
  static void end() {
    --depth;
    __tsan_ignore_thread_end();
  }
  static inline int depth = 0;  // no scope stands across a switch to another thread
};

#else

inline void release(const void*) {}
inline void release_store(const void*) {}
inline void acquire(const void*) {}
inline void heap(const void*, std::size_t) {}
inline void allocated(const void*, std::size_t) {}
inline void forgotten(const void*, std::size_t) {}
class Engine {
 public:
  Engine() {}
  ~Engine() {}
  static void end_all() {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
};

#endif

}  // namespace flare::sim::tsan
