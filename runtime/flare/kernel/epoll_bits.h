// epoll_bits.h: interest and readiness as epoll writes them.                          Internal.
// Threads:    any.
// Owns:       nothing.
// Bounds:     none.
// Errors:     none.
// Ordering:   none.
// Invariants: none.
// Not here:   the calls (epoll_kernel.h).
// Source:     epoll_ctl(2).
#pragma once

#include <sys/epoll.h>

#include <cstdint>

#include "flare/base/abi.h"
#include "flare/kernel/kernel.h"

namespace flare::inline FLARE_ABI {

// EPOLLRDHUP tells of a peer that will send no more, but epoll_ctl(2) refuses it together with EPOLLEXCLUSIVE.
inline std::uint32_t events_of(unsigned interest, bool exclusive) {
  std::uint32_t events = 0;
  if ((interest & kReadable) != 0) events |= exclusive ? EPOLLIN : EPOLLIN | EPOLLRDHUP;
  if ((interest & kWritable) != 0) events |= EPOLLOUT;
  if (exclusive) events |= EPOLLEXCLUSIVE;
  return events;
}

inline unsigned bits_of(std::uint32_t events) {
  unsigned bits = 0;
  if ((events & EPOLLIN) != 0) bits |= kReadable;
  if ((events & EPOLLOUT) != 0) bits |= kWritable;
  if ((events & EPOLLERR) != 0) bits |= kErrorBit;
  if ((events & EPOLLHUP) != 0) bits |= kHangup;
  if ((events & EPOLLRDHUP) != 0) bits |= kReadHangup;
  return bits;
}

}  // namespace flare::inline FLARE_ABI
