// loopback.h: descriptors and clients on loopback for tests, closed by their scope.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "flare/base/unique_fd.h"
#include "flare/net/socket_address.h"
#include "support/own_loopback.h"

namespace flare::testing {

// How many descriptors this process has open.
inline int open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  int count = -1;  // the folder's own
  while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  return count;
}

inline bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

// Two connected stream sockets, non-blocking.
struct SocketPair {
  UniqueFd a;
  UniqueFd b;
  SocketPair() {
    int fds[2] = {-1, -1};
    EXPECT_EQ(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
    a.reset(fds[0]);
    b.reset(fds[1]);
  }
  void feed_a(const std::string& bytes = "x") {
    EXPECT_EQ(static_cast<ssize_t>(bytes.size()), ::send(b.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
};

// A blocking client; on failure an empty UniqueFd and the errno of connect.
inline std::pair<UniqueFd, int> connect_to(const SocketAddress& address) {
  UniqueFd fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), address.data(), address.length()) == 0) return {std::move(fd), 0};
  const int error = errno;
  return {UniqueFd(), error};
}

}  // namespace flare::testing
