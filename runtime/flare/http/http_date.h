// http_date.h: the value of Date, written once a second.  Internal.
// Threads:    one worker.
// Owns:       its text.
// Bounds:     29 bytes.
// Errors:     none.
// Ordering:   none.
// Invariants: none.
// Not here:   the clock (kernel/system_kernel.h); the C library's time functions, which read the environment.
// Source:     RFC 9110 section 5.6.7 (IMF-fixdate).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/base/time.h"

namespace flare::inline FLARE_ABI {

inline constexpr std::size_t kHttpDateBytes = 29;

// "Sun, 06 Nov 1994 08:49:37 GMT". seconds: since 1970, before the year 10000.
std::array<char, kHttpDateBytes> format_http_date(std::int64_t seconds);

class DateCache {
 public:
  // now: of the running tick. The wall clock is read when that differs from the last call's.
  std::string_view at(MonoTime now);

 private:
  MonoTime read_at_{Duration{-1}};
  std::int64_t seconds_ = -1;
  std::array<char, kHttpDateBytes> text_{};
};

}  // namespace flare::inline FLARE_ABI
