// world.h: the calls that a script makes, of the real kernel and of the simulated one.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "flare/base/result.h"
#include "machine/chooser.h"

namespace flare::sim::conformance {

// Numbers start at 0 in both. Every socket and eventfd is made non-blocking by the scripts, but those whose connect
// shall block.
class World {
 public:
  virtual ~World() = default;

  // Nothing is open; numbers below limit may be used.
  virtual void start(int limit) = 0;
  virtual void set_limit(int limit) = 0;

  virtual Status close(int fd) = 0;
  virtual Result<int> dup(int fd) = 0;
  virtual Result<int> epoll_create(int flags) = 0;
  virtual Status epoll_ctl(int ep, int op, int fd, std::uint32_t events, std::uint64_t data) = 0;
  virtual Result<int> epoll_take(int ep, epoll_event* events, int max) = 0;
  virtual Result<int> eventfd(unsigned initial, int flags) = 0;
  virtual Result<std::size_t> read(int fd, void* out, std::size_t size) = 0;
  virtual Result<std::size_t> write(int fd, const void* data, std::size_t size) = 0;
  virtual Result<int> socket(int family, int type) = 0;
  virtual Status socketpair(int family, int type, int out[2]) = 0;
  virtual Status setsockopt(int fd, int level, int name, int value) = 0;
  virtual Status set_linger(int fd, bool on, int seconds) = 0;
  virtual Result<int> getsockopt(int fd, int level, int name) = 0;
  virtual Result<int> accept_backlog(int fd) = 0;
  virtual Status bind(int fd, const sockaddr_storage& address, socklen_t length) = 0;
  virtual Status listen(int fd, int backlog) = 0;
  virtual Result<int> accept4(int fd, int flags) = 0;
  virtual Status connect(int fd, const sockaddr_storage& address, socklen_t length) = 0;
  virtual Status getsockname(int fd, sockaddr_storage* out) = 0;
  virtual Status getpeername(int fd, sockaddr_storage* out) = 0;
  virtual Status shutdown(int fd, int how) = 0;
  virtual Result<std::size_t> recv(int fd, void* out, std::size_t size) = 0;
  virtual Result<std::size_t> send(int fd, const void* data, std::size_t size) = 0;
  virtual Result<std::size_t> sendmsg(int fd, const iovec* parts, int count) = 0;
  virtual Result<unsigned> poll_bits(int fd) = 0;

  // A thread falls asleep inside epoll_wait of a set; one at a time. has_woken: it came back, and what it got is in
  // events. end_sleep brings it back in any case.
  virtual void fall_asleep(int ep) = 0;
  virtual bool has_woken() = 0;
  virtual void end_sleep() = 0;
  // What a connection waits for happens: the kernel's timer sends a lost packet again. True when fd can be written to.
  virtual bool pass_timers(int fd) = 0;
};

}  // namespace flare::sim::conformance
