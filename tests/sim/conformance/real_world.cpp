#include "conformance/real_world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace flare::sim::conformance {

namespace {

constexpr short kAll = POLLIN | POLLPRI | POLLOUT | POLLRDHUP | POLLRDNORM | POLLRDBAND | POLLWRNORM | POLLWRBAND;
constexpr int kFenceRounds = 4;  // a SYN, its answer, the acknowledgement, and what that one sets off

void require(bool condition, const char* what) {
  if (condition) return;
  std::perror(what);
  std::abort();
}

}  // namespace

RealWorld::RealWorld() {
  std::signal(SIGPIPE, SIG_IGN);
  require(::getrlimit(RLIMIT_NOFILE, &limit_before_) == 0, "getrlimit");
  // One processor, so that there is one queue of packets.
  require(::sched_getaffinity(0, sizeof cpus_before_, &cpus_before_) == 0, "sched_getaffinity");
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  require(::sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");

  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  require(fd >= 0, "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  socklen_t length = sizeof address;
  require(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0, "getsockname");
  require(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect");
  fence_ = ::fcntl(fd, F_DUPFD_CLOEXEC, kOwn);
  require(fence_ >= kOwn, "dup");
  ::close(fd);
  for (int taken = 0; taken < kBase; ++taken) {
    if (::fcntl(taken, F_GETFD) >= 0) continue;
    require(::dup2(fence_, taken) == taken, "dup2");
    fillers_.push_back(taken);
  }
  // Whatever we inherited above that would be in the way.
  require(::close_range(kBase, static_cast<unsigned>(kOwn) - 1, 0) == 0, "close_range");
}

RealWorld::~RealWorld() {
  close_all();
  ::setrlimit(RLIMIT_NOFILE, &limit_before_);
  ::sched_setaffinity(0, sizeof cpus_before_, &cpus_before_);
  for (const int filler : fillers_) ::close(filler);
  ::close(fence_);
}

void RealWorld::close_all() {
  // As resets: a port in TIME_WAIT would be there for a minute.
  for (int fd = 0; fd < open_to_; ++fd) {
    const linger now{1, 0};
    ::setsockopt(real(fd), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  if (open_to_ > 0) ::close_range(kBase, static_cast<unsigned>(real(open_to_)), 0);
  open_to_ = 0;
}

void RealWorld::start(int limit) {
  close_all();
  settle();
  set_limit(limit);
}

void RealWorld::set_limit(int limit) {
  open_to_ = std::max(open_to_, std::min(limit, kMost));
  rlimit now{};
  require(::getrlimit(RLIMIT_NOFILE, &now) == 0, "getrlimit");
  now.rlim_cur = static_cast<rlim_t>(real(limit));
  require(::setrlimit(RLIMIT_NOFILE, &now) == 0, "setrlimit");
}

void RealWorld::settle() {
  for (int round = 0; round < kFenceRounds; ++round) {
    char byte = 0;
    require(::send(fence_, &byte, 1, 0) == 1, "send");
    while (::recv(fence_, &byte, 1, 0) != 1) ::sched_yield();
  }
}

void RealWorld::fall_asleep(int ep) {
  sleeper_ = std::make_unique<Sleeper>(real(ep));
}

bool RealWorld::has_woken() {
  sleeper_->settle();
  return sleeper_->returned();
}

// The first retry of the kernel comes after a second.
bool RealWorld::pass_timers(int fd) {
  pollfd entry{real(fd), POLLOUT, 0};
  return ::poll(&entry, 1, 30'000) == 1 && (entry.revents & POLLOUT) != 0;
}

void RealWorld::poll_all(std::vector<unsigned>& bits) {
  std::array<pollfd, kMost> entries{};
  require(bits.size() <= entries.size(), "numbers");
  for (std::size_t i = 0; i < bits.size(); ++i) {
    entries[i] = pollfd{bits[i] == kLeaveOut ? -1 : real(static_cast<int>(i)), kAll, 0};
  }
  require(::poll(entries.data(), bits.size(), 0) >= 0, "poll");
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] == kLeaveOut) continue;
    const bool closed = (entries[i].revents & POLLNVAL) != 0;
    bits[i] = closed ? kClosed : static_cast<unsigned>(entries[i].revents);
  }
}

}  // namespace flare::sim::conformance
