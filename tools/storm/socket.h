// socket.h: client sockets to loopback addresses. The storm goes nowhere else.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace flare::tools {

// A loopback address with a port.
struct Target {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string text;

  // "127.0.0.1:8080" or "[::1]:8080". Returns "" or what is wrong with text.
  static std::string parse(const std::string& text, Target& out);
};

// The one owner of a client socket.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close();
  // Closes with RST: nothing lingers, and the port can be used again at once.
  void reset();

 private:
  int fd_ = -1;
};

struct ConnectOptions {
  std::uint16_t source_port = 0;  // 0: the kernel's choice
  bool small_buffers = false;     // a receive buffer of 4 KiB: a slow reader is felt by the server
};

// Starts a connect without blocking. error: 0 (connected or under way) or the errno.
Socket start_connect(const Target& target, const ConnectOptions& options, int& error);
// The outcome of a connect: 0 or the errno.
int connect_outcome(int fd);

}  // namespace flare::tools
