// system_kernel_model.h: what kernel/system_kernel.h is in the model build: the same calls over a simulated kernel.
// Threads:    threads of a schedule.
// Errors:     only those that the real call can give: kernel/faults.h.
#pragma once

#include "flare/kernel/kernel.h"

namespace flare::inline FLARE_ABI {

struct ModelKernel {
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

static_assert(Kernel<ModelKernel>);

using SystemKernel = ModelKernel;

}  // namespace flare::inline FLARE_ABI
