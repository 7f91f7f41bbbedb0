// epoll_kernel.h: Linux behind the Kernel concept: epoll, eventfd, sockets, affinity, clocks.   Public header.
// Threads:    any; every function is one system call on what the caller owns. wake_signal: signal handlers too.
// Owns:       nothing.
// Bounds:     poller_wait gives at most max events; read_file reads at most limits::kReadFileBytes.
// Errors:     the errno of the call, captured before anything else runs.
// Ordering:   as the kernel gives it.
// Invariants: INV-18, INV-20.
// Not here:   what to do about an error (reactor/, worker/).
// Source:     seeds, flare.runtime.reactor; epoll_ctl(2): EPOLLEXCLUSIVE with EPOLLRDHUP is EINVAL.
#pragma once

#include "flare/kernel/kernel.h"

namespace flare::inline FLARE_ABI {

struct EpollKernel {
  static Result<int> poller_open();
  static Status poller_add(int poller, int fd, std::uint64_t key, unsigned interest, AddMode mode);
  static Status poller_modify(int poller, int fd, std::uint64_t key, unsigned interest);
  static Status poller_remove(int poller, int fd);
  static Result<int> poller_wait(int poller, ReadyEvent* out, int max, int timeout_ms);

  static Result<int> wake_open();
  static Status wake_signal(int fd);
  static Status wake_clear(int fd);
  static Result<bool> wait_readable(int fd, int timeout_ms);

  static Result<int> socket_stream(int family);
  static Status set_reuse_address(int fd);
  static Status set_reuse_port(int fd);
  static Status set_v6_only(int fd, bool on);
  static Status set_nodelay(int fd);
  static Status set_defer_accept(int fd, int seconds);
  static Result<int> accept_backlog(int fd);
  static Status bind(int fd, const sockaddr* address, socklen_t length);
  static Status listen(int fd, int backlog);
  static Status local_address(int fd, sockaddr_storage* out);
  static Status peer_address(int fd, sockaddr_storage* out);
  static Result<int> accept(int fd);
  static Status disable_listener(int fd);
  static Status shutdown_write(int fd);
  static Result<std::size_t> recv(int fd, void* buffer, std::size_t size);
  static Result<std::size_t> send(int fd, const void* data, std::size_t size);
  static Result<std::size_t> send_held(int fd, const void* data, std::size_t size);
  static Result<std::size_t> send_parts(int fd, const iovec* parts, int count);
  static Status close(int fd);

  static Result<std::vector<int>> allowed_cpus();
  static Status pin_current_thread(int cpu);
  static Result<std::string> read_file(const char* path);
  static MonoTime now();
  static std::int64_t wall_seconds();
  static std::uint64_t random_u64();
  static void write_error(const void* data, std::size_t size);
};

static_assert(Kernel<EpollKernel>);

}  // namespace flare::inline FLARE_ABI
