// The real kernel's descriptors.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "dispatch_host.h"

namespace flare::fuzz::host {

namespace {

int opened(int fd, const char* call) {
  if (fd >= 0) return fd;
  std::perror(call);
  std::exit(1);
}

}  // namespace

void reset() {}

void choose_next(unsigned /*choice*/) {}

int open_event() {
  return opened(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
}

std::array<int, 2> open_pair() {
  std::array<int, 2> ends{};
  opened(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  return ends;
}

int duplicate(int fd) {
  return opened(::fcntl(fd, F_DUPFD_CLOEXEC, 0), "fcntl");
}

void close(int fd) {
  opened(::close(fd), "close");
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

// An eventfd takes eight bytes, and a socket counts them as one step as well.
void write_one(int fd) {
  const std::uint64_t one = 1;
  if (::send(fd, &one, sizeof one, MSG_NOSIGNAL) < 0) static_cast<void>(::write(fd, &one, sizeof one) < 0);
}

void read_all(int fd) {
  std::array<char, 4096> bytes;
  static_cast<void>(::read(fd, bytes.data(), bytes.size()) < 0);
}

}  // namespace flare::fuzz::host
