// live_heap.h: the bytes that the program has allocated and not freed, with or without a sanitizer.
#pragma once

#include <malloc.h>

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FLARE_SANITIZER_ALLOCATES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FLARE_SANITIZER_ALLOCATES 1
#endif

#ifdef FLARE_SANITIZER_ALLOCATES
#include <sanitizer/allocator_interface.h>
#endif

namespace flare::testing {

inline std::size_t live_heap_bytes() {
#ifdef FLARE_SANITIZER_ALLOCATES
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;  // big pieces are mapped, and counted apart
#endif
}

}  // namespace flare::testing
