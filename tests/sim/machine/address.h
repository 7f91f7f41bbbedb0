// address.h: a name of a TCP socket as the machine keeps it: always 16 bytes, IPv4 in its mapped form.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

#include "flare/base/result.h"

namespace flare::sim {

struct Address {
  std::array<std::uint8_t, 16> ip{};
  std::uint16_t port = 0;

  bool is_v4() const;        // ::ffff:a.b.c.d
  bool is_wildcard() const;  // 0.0.0.0 or ::
  bool is_loopback() const;  // 127.0.0.0/8 or ::1
  bool same_ip(const Address& other) const { return ip == other.ip; }
};

Address any_address(int family);
Address loopback_address(bool v4);

// EINVAL: too short. EAFNOSUPPORT: not of the socket's family.
Result<Address> parse_address(int socket_family, const sockaddr* address, socklen_t length);

// As a socket of this family shows it.
void show_address(int socket_family, const Address& address, sockaddr_storage* out);

}  // namespace flare::sim
