#include "flare/net/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "flare/base/network_error.h"

namespace flare::inline FLARE_ABI {

namespace {

// sockaddr_storage is only ever read and written through copies: that is what aliasing allows.
template <class Address>
Address load(const sockaddr_storage& storage) {
  Address address;
  std::memcpy(&address, &storage, sizeof address);
  return address;
}

template <class Address>
sockaddr_storage store(const Address& address) {
  sockaddr_storage storage;
  std::memset(&storage, 0, sizeof storage);
  std::memcpy(&storage, &address, sizeof address);
  return storage;
}

// For one line of a log: what does not print is shown by number, and no text fills the screen.
std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 100;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return text.size() > kMost ? shown + "..." : shown;
}

[[noreturn]] void refuse(std::string_view text, const char* why) {
  throw NetworkError(EINVAL, "SocketAddress::parse",
                     "\"" + printable(text) + "\": " + why +
                         "; expected IPV4:PORT or [IPV6]:PORT with numbers only, as 127.0.0.1:8080 or [::1]:0");
}

// Decimal, no sign, no blank, no leading zero.
std::uint16_t parse_port(std::string_view whole, std::string_view text) {
  if (text.empty()) refuse(whole, "the port is missing");
  if (text.size() > 5 || (text.size() > 1 && text.front() == '0')) refuse(whole, "the port is not 0 to 65535");
  unsigned port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') refuse(whole, "the port is not a number");
    port = port * 10 + static_cast<unsigned>(c - '0');
  }
  if (port > 65535) refuse(whole, "the port is not 0 to 65535");
  return static_cast<std::uint16_t>(port);
}

// inet_pton wants a terminated string; a text with a zero byte inside must not be taken for its beginning.
bool parse_host(int family, std::string_view host, void* out) {
  if (host.find('\0') != std::string_view::npos) return false;
  return ::inet_pton(family, std::string(host).c_str(), out) == 1;
}

}  // namespace

SocketAddress::SocketAddress() : SocketAddress(loopback_v4()) {}

SocketAddress SocketAddress::loopback_v4(std::uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return SocketAddress(store(v4));
}

SocketAddress SocketAddress::from_sockaddr(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    const auto from = load<sockaddr_in>(storage);
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = from.sin_port;
    v4.sin_addr = from.sin_addr;
    return SocketAddress(store(v4));
  }
  if (storage.ss_family == AF_INET6) {
    const auto from = load<sockaddr_in6>(storage);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = from.sin6_port;
    v6.sin6_addr = from.sin6_addr;
    v6.sin6_scope_id = from.sin6_scope_id;
    return SocketAddress(store(v6));
  }
  throw NetworkError(EAFNOSUPPORT, "SocketAddress::from_sockaddr",
                     "family " + std::to_string(storage.ss_family) + ", expected AF_INET or AF_INET6");
}

SocketAddress SocketAddress::parse(std::string_view text) {
  if (text.empty()) refuse(text, "the address is empty");
  if (text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) refuse(text, "the ] is missing");
    if (close + 1 >= text.size() || text[close + 1] != ':') refuse(text, "the port is missing");
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    if (!parse_host(AF_INET6, text.substr(1, close - 1), &v6.sin6_addr)) refuse(text, "not an IPv6 address in []");
    v6.sin6_port = htons(parse_port(text, text.substr(close + 2)));
    return SocketAddress(store(v6));
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(text, "the port is missing");
  if (text.find(':', colon + 1) != std::string_view::npos) refuse(text, "an IPv6 address needs []");
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (!parse_host(AF_INET, text.substr(0, colon), &v4.sin_addr)) refuse(text, "not an IPv4 address");
  v4.sin_port = htons(parse_port(text, text.substr(colon + 1)));
  return SocketAddress(store(v4));
}

int SocketAddress::family() const {
  return storage_.ss_family;
}

std::uint16_t SocketAddress::port() const {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port), "one place for both families");
  return ntohs(load<sockaddr_in>(storage_).sin_port);
}

SocketAddress SocketAddress::with_port(std::uint16_t port) const {
  if (family() == AF_INET6) {
    auto v6 = load<sockaddr_in6>(storage_);
    v6.sin6_port = htons(port);
    return SocketAddress(store(v6));
  }
  auto v4 = load<sockaddr_in>(storage_);
  v4.sin_port = htons(port);
  return SocketAddress(store(v4));
}

socklen_t SocketAddress::length() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::string SocketAddress::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (family() == AF_INET6) {
    const auto v6 = load<sockaddr_in6>(storage_);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, host.data(), host.size());
    return "[" + std::string(host.data()) + "]:" + std::to_string(port());
  }
  const auto v4 = load<sockaddr_in>(storage_);
  ::inet_ntop(AF_INET, &v4.sin_addr, host.data(), host.size());
  return std::string(host.data()) + ":" + std::to_string(port());
}

bool operator==(const SocketAddress& a, const SocketAddress& b) {
  // Every constructor clears what the family does not use.
  return std::memcmp(&a.storage_, &b.storage_, sizeof a.storage_) == 0;
}

}  // namespace flare::inline FLARE_ABI
