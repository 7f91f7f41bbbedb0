// event.h: what one poll says about one registration.                                 Public header.
// Threads:    a value type.
// Owns:       nothing.
// Bounds:     none.
// Errors:     none.
// Ordering:   none.
// Invariants: INV-10: an event carries its registration, so that it can be asked whether it still is the one.
// Not here:   asking it (Reactor::is_current).
// Source:     seeds, flare.runtime.reactor.
#pragma once

#include <cstdint>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

inline constexpr int INTEREST_READ = 1;
inline constexpr int INTEREST_WRITE = 2;
inline constexpr std::uint64_t WAKEUP_TOKEN = ~std::uint64_t{0};

// Which registration, of which reactor. Generation 0 is none.
struct RegistrationId {
  std::uint64_t reactor = 0;
  std::uint64_t generation = 0;
  std::uint32_t slot = 0;
};

class Event {
 public:
  Event() = default;
  Event(std::uint64_t token, unsigned bits, RegistrationId registration)
      : token_(token), registration_(registration), bits_(bits) {}

  std::uint64_t token() const { return token_; }
  bool is_readable() const;  // data, a new connection, or the end of the stream
  bool is_writable() const;
  bool is_error() const;
  bool is_hup() const;  // the peer is gone, or will send no more
  bool is_wakeup() const { return token_ == WAKEUP_TOKEN; }
  const RegistrationId& registration() const { return registration_; }

 private:
  std::uint64_t token_ = 0;
  RegistrationId registration_;
  unsigned bits_ = 0;
};

}  // namespace flare::inline FLARE_ABI
