#include "machine/address.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace flare::sim {

namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool all_zero(const std::uint8_t* from, const std::uint8_t* to) {
  return std::all_of(from, to, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

bool Address::is_v4() const {
  return std::equal(kMapped.begin(), kMapped.end(), ip.begin());
}

bool Address::is_wildcard() const {
  return all_zero(is_v4() ? ip.data() + 12 : ip.data(), ip.data() + 16);
}

bool Address::is_loopback() const {
  if (is_v4()) return ip[12] == 127;
  return ip[15] == 1 && all_zero(ip.data(), ip.data() + 15);
}

Address any_address(int family) {
  Address address;
  if (family == AF_INET) std::copy(kMapped.begin(), kMapped.end(), address.ip.begin());
  return address;
}

Address loopback_address(bool v4) {
  Address address = any_address(v4 ? AF_INET : AF_INET6);
  if (v4) address.ip[12] = 127;
  address.ip[15] = 1;
  return address;
}

Result<Address> parse_address(int socket_family, const sockaddr* address, socklen_t length) {
  const std::size_t needed = socket_family == AF_INET6 ? offsetof(sockaddr_in6, sin6_scope_id) : sizeof(sockaddr_in);
  if (length < needed) return Result<Address>::failure(EINVAL);
  if (address->sa_family != socket_family) return Result<Address>::failure(EAFNOSUPPORT);
  Address out = any_address(socket_family);
  if (socket_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, address, std::min<std::size_t>(length, sizeof in));
    std::memcpy(out.ip.data(), &in.sin6_addr, out.ip.size());
    out.port = ntohs(in.sin6_port);
  } else {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    std::memcpy(out.ip.data() + 12, &in.sin_addr, 4);
    out.port = ntohs(in.sin_port);
  }
  return out;
}

void show_address(int socket_family, const Address& address, sockaddr_storage* out) {
  *out = sockaddr_storage{};
  if (socket_family == AF_INET6) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.port);
    std::memcpy(&in.sin6_addr, address.ip.data(), address.ip.size());
    std::memcpy(out, &in, sizeof in);
  } else {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.ip.data() + 12, 4);
    std::memcpy(out, &in, sizeof in);
  }
}

}  // namespace flare::sim
