// descriptors.h: socket pairs whose bytes pass from one to the next, and descriptors that are always ready.
#pragma once

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace flare::bench {

inline void check(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::exit(1);
}

inline void read_byte(int fd) {
  char byte = 0;
  check(::recv(fd, &byte, 1, 0) == 1, "bench_loop: recv");
}

// One end of each pair is watched, the other one written to.
class Pairs {
 public:
  explicit Pairs(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      int two[2];
      check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, two) == 0, "bench_loop: socketpair");
      watched_.push_back(two[0]);
      written_.push_back(two[1]);
    }
  }
  ~Pairs() {
    for (const int fd : watched_) ::close(fd);
    for (const int fd : written_) ::close(fd);
  }
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;

  const std::vector<int>& ends() const { return watched_; }
  void write_to(std::size_t number) const { check(::send(written_[number], "x", 1, 0) == 1, "bench_loop: send"); }

 private:
  std::vector<int> watched_;
  std::vector<int> written_;
};

class Ready {
 public:
  explicit Ready(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      fds_.push_back(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
      check(fds_.back() >= 0, "bench_loop: eventfd");
    }
  }
  ~Ready() {
    for (const int fd : fds_) ::close(fd);
  }
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;
  const std::vector<int>& fds() const { return fds_; }

 private:
  std::vector<int> fds_;
};

}  // namespace flare::bench
