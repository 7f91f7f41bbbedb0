// real_world.h: the kernel of this computer, with numbers that start at 0 as in a fresh process.
//
// On loopback a packet arrives before the call that sent it returns, unless the kernel puts its work off. settle()
// waits for that, without a clock: the queue of packets of one processor is first in, first out, so when a datagram of
// ours has come through, what was sent before it has too.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <memory>
#include <vector>

#include "conformance/sleeper.h"
#include "conformance/world.h"

namespace flare::sim::conformance {

class RealWorld final : public World {
 public:
  RealWorld();
  ~RealWorld() override;
  RealWorld(const RealWorld&) = delete;
  RealWorld& operator=(const RealWorld&) = delete;

  int real(int fd) const { return fd < 0 ? fd : fd + kBase; }
  // Readiness of the numbers from 0 on, as poll_bits gives it; those that are kLeaveOut are not looked at.
  static constexpr unsigned kLeaveOut = 1U << 30;
  static constexpr unsigned kClosed = 1U << 31;
  void poll_all(std::vector<unsigned>& bits);
  void settle();

  void start(int limit) override;
  void set_limit(int limit) override;
  Status close(int fd) override;
  Result<int> dup(int fd) override;
  Result<int> epoll_create(int flags) override;
  Status epoll_ctl(int ep, int op, int fd, std::uint32_t events, std::uint64_t data) override;
  Result<int> epoll_take(int ep, epoll_event* events, int max) override;
  Result<int> eventfd(unsigned initial, int flags) override;
  Result<std::size_t> read(int fd, void* out, std::size_t size) override;
  Result<std::size_t> write(int fd, const void* data, std::size_t size) override;
  Result<int> socket(int family, int type) override;
  Status socketpair(int family, int type, int out[2]) override;
  Status setsockopt(int fd, int level, int name, int value) override;
  Status set_linger(int fd, bool on, int seconds) override;
  Result<int> getsockopt(int fd, int level, int name) override;
  Result<int> accept_backlog(int fd) override;
  Status bind(int fd, const sockaddr_storage& address, socklen_t length) override;
  Status listen(int fd, int backlog) override;
  Result<int> accept4(int fd, int flags) override;
  Status connect(int fd, const sockaddr_storage& address, socklen_t length) override;
  Status getsockname(int fd, sockaddr_storage* out) override;
  Status getpeername(int fd, sockaddr_storage* out) override;
  Status shutdown(int fd, int how) override;
  Result<std::size_t> recv(int fd, void* out, std::size_t size) override;
  Result<std::size_t> send(int fd, const void* data, std::size_t size) override;
  Result<std::size_t> sendmsg(int fd, const iovec* parts, int count) override;
  Result<unsigned> poll_bits(int fd) override;
  void fall_asleep(int ep) override;
  bool has_woken() override;
  void end_sleep() override { sleeper_.reset(); }
  bool pass_timers(int fd) override;

 private:
  static constexpr int kBase = 64;   // every number below it is taken
  static constexpr int kMost = 128;  // numbers that scripts may use
  static constexpr int kOwn = 1024;  // ours lie above

  void close_all();

  rlimit limit_before_{};
  cpu_set_t cpus_before_{};
  std::vector<int> fillers_;
  std::unique_ptr<Sleeper> sleeper_;
  int fence_ = -1;
  int open_to_ = 0;  // numbers of the script that may be open
};

}  // namespace flare::sim::conformance
