#include "storm/socket.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/cli.h"

namespace flare::tools {

std::string Target::parse(const std::string& text, Target& out) {
  const std::string expected = "'" + text + "' is not a loopback address with a port, as 127.0.0.1:8080 or [::1]:8080";
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return expected;
  std::string host = text.substr(0, colon);
  std::int64_t port = 0;
  if (!parse_whole(text.substr(colon + 1), port) || port < 1 || port > 65535) return expected;
  const bool v6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (v6) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  out = Target{};
  const std::string refused = "'" + text + "' is not a loopback address; load goes to 127.0.0.0/8 and [::1] only";
  if (v6) {
    auto* address = reinterpret_cast<sockaddr_in6*>(&out.address);
    if (inet_pton(AF_INET6, host.c_str(), &address->sin6_addr) != 1) return expected;
    if (!IN6_IS_ADDR_LOOPBACK(&address->sin6_addr)) return refused;
    address->sin6_family = AF_INET6;
    address->sin6_port = htons(static_cast<std::uint16_t>(port));
    out.length = sizeof(*address);
  } else {
    auto* address = reinterpret_cast<sockaddr_in*>(&out.address);
    if (inet_pton(AF_INET, host.c_str(), &address->sin_addr) != 1) return expected;
    if ((ntohl(address->sin_addr.s_addr) >> 24) != 127) return refused;
    address->sin_family = AF_INET;
    address->sin_port = htons(static_cast<std::uint16_t>(port));
    out.length = sizeof(*address);
  }
  out.text = text;
  return {};
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Socket::~Socket() {
  close();
}

void Socket::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void Socket::reset() {
  if (fd_ < 0) return;
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close();
}

namespace {

// Binds to the loopback address of the target's family.
int bind_source(int fd, const Target& target, std::uint16_t port) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (target.address.ss_family == AF_INET6) {
    sockaddr_in6 source{};
    source.sin6_family = AF_INET6;
    source.sin6_addr = in6addr_loopback;
    source.sin6_port = htons(port);
    return ::bind(fd, reinterpret_cast<sockaddr*>(&source), sizeof(source)) == 0 ? 0 : errno;
  }
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  source.sin_port = htons(port);
  return ::bind(fd, reinterpret_cast<sockaddr*>(&source), sizeof(source)) == 0 ? 0 : errno;
}

}  // namespace

Socket start_connect(const Target& target, const ConnectOptions& options, int& error) {
  Socket socket(::socket(target.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  error = socket.open() ? 0 : errno;
  if (error != 0) return {};
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (options.small_buffers) {
    const int size = 4096;
    ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
  }
  if (options.source_port != 0) {
    error = bind_source(socket.fd(), target, options.source_port);
    if (error != 0) return {};
  }
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&target.address), target.length) != 0 &&
      errno != EINPROGRESS) {
    error = errno;
    return {};
  }
  return socket;
}

int connect_outcome(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace flare::tools
