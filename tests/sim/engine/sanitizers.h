// sanitizers.h: which sanitizer this build has, in one spelling for both compilers. The engine, which the thread
// sanitizer does not instrument, is told by the build.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define FLARE_SIM_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(FLARE_SIM_TSAN)
#define FLARE_SIM_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLARE_SIM_ASAN 1
#endif
#if __has_feature(thread_sanitizer) && !defined(FLARE_SIM_TSAN)
#define FLARE_SIM_TSAN 1
#endif
#endif

#ifdef FLARE_SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FLARE_SIM_TSAN
#include <sanitizer/tsan_interface.h>
#endif
