// socket_address.h: an IPv4 or IPv6 address with a port.                              Public header.
// Threads:    a value type.
// Owns:       nothing.
// Bounds:     none.
// Errors:     parse throws NetworkError(EINVAL) that names the text and what was expected; from_sockaddr
//             NetworkError(EAFNOSUPPORT) for a family that is neither IPv4 nor IPv6.
// Ordering:   none.
// Invariants: none.
// Not here:   host names: flare binds addresses and never asks a resolver.
// Source:     seeds, flare.runtime.scheduler (SocketAddress).
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

class SocketAddress {
 public:
  SocketAddress();  // 127.0.0.1:0
  // "127.0.0.1:8080", "[::1]:0". Strict: numbers only, no blanks, no scope id. Throws NetworkError(EINVAL).
  static SocketAddress parse(std::string_view text);
  static SocketAddress loopback_v4(std::uint16_t port = 0);
  static SocketAddress from_sockaddr(const sockaddr_storage& storage);

  int family() const;
  std::uint16_t port() const;
  SocketAddress with_port(std::uint16_t port) const;
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const;
  // The form that parse takes (a scope id is not shown).
  std::string to_string() const;
  friend bool operator==(const SocketAddress& a, const SocketAddress& b);

 private:
  explicit SocketAddress(const sockaddr_storage& storage) : storage_(storage) {}

  sockaddr_storage storage_;  // every byte that the family does not use is 0
};

}  // namespace flare::inline FLARE_ABI
