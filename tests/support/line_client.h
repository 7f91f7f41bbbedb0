// line_client.h: a blocking client with deadlines, for tests on loopback.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>

#include "flare/net/socket_address.h"
#include "support/stream_end.h"

namespace flare::testing {

class LineClient {
 public:
  LineClient() = default;
  explicit LineClient(const SocketAddress& address) { connect_error_ = open(address); }
  LineClient(LineClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        connect_error_(other.connect_error_),
        in_(std::move(other.in_)),
        end_(other.end_) {}
  LineClient& operator=(LineClient&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    connect_error_ = other.connect_error_;
    in_ = std::move(other.in_);
    end_ = other.end_;
    return *this;
  }
  ~LineClient() { close(); }

  int connect_error() const { return connect_error_; }
  bool connected() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  bool send(const std::string& text) {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Closes with a reset.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

  // The next line without its end; nothing at the end of the stream or the deadline.
  std::optional<std::string> line(std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
    const auto until = std::chrono::steady_clock::now() + deadline;
    for (;;) {
      const std::size_t end = in_.find('\n');
      if (end != std::string::npos) {
        std::string text = in_.substr(0, end);
        in_.erase(0, end + 1);
        return text;
      }
      if (end_ || !read_some(until)) return std::nullopt;
    }
  }
  std::optional<std::string> ask(const std::string& text) {
    if (!send(text + "\n")) return std::nullopt;
    return line();
  }
  // Reads until the stream ends; what came stands in rest().
  StreamEnd await_end(std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
    const auto until = std::chrono::steady_clock::now() + deadline;
    while (!end_ && read_some(until)) {
    }
    return end_.value_or(StreamEnd::kOpen);
  }
  const std::string& rest() const { return in_; }

 private:
  int open(const SocketAddress& address) {
    fd_ = ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd_, address.data(), address.length()) == 0) return 0;
    const int error = errno;
    close();
    return error;
  }
  bool read_some(std::chrono::steady_clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd wanted{fd_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) <= 0) return false;
    char buffer[16384];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got > 0) {
      in_.append(buffer, static_cast<std::size_t>(got));
      return true;
    }
    end_ = got == 0 ? StreamEnd::kEof : StreamEnd::kReset;
    return false;
  }

  int fd_ = -1;
  int connect_error_ = 0;
  std::string in_;
  std::optional<StreamEnd> end_;
};

}  // namespace flare::testing
