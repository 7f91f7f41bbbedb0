#include "flare/net/listener.h"

#include <cerrno>
#include <string>
#include <utility>

#include "flare/base/limits.h"
#include "flare/base/network_error.h"
#include "flare/kernel/system_kernel.h"

namespace flare::inline FLARE_ABI {

namespace {

void require(Status status, const char* operation, const SocketAddress& address) {
  if (!status.ok()) throw NetworkError(status.error, operation, "address " + address.to_string());
}

// Bound, not listening. SO_REUSEADDR always: old connections in TIME_WAIT, and a disabled listener that a stuck worker
// still holds, must not keep a new server from its port.
UniqueFd bind_socket(const SocketAddress& address, const ListenerOptions& options, bool reuse_port) {
  const Result<int> opened = SystemKernel::socket_stream(address.family());
  if (!opened.ok()) throw NetworkError(opened.error(), "socket", "address " + address.to_string());
  UniqueFd fd(opened.value());
  require(SystemKernel::set_reuse_address(fd.get()), "setsockopt SO_REUSEADDR", address);
  if (reuse_port) require(SystemKernel::set_reuse_port(fd.get()), "setsockopt SO_REUSEPORT", address);
  if (address.family() == AF_INET6) {
    // Always said: its default is a setting of the machine.
    require(SystemKernel::set_v6_only(fd.get(), !options.dual_stack), "setsockopt IPV6_V6ONLY", address);
  }
  require(SystemKernel::bind(fd.get(), address.data(), address.length()), "bind", address);
  return fd;
}

SocketAddress bound_address(const UniqueFd& fd, const SocketAddress& asked) {
  sockaddr_storage storage{};
  require(SystemKernel::local_address(fd.get(), &storage), "getsockname", asked);
  return SocketAddress::from_sockaddr(storage);
}

void start_listening(const UniqueFd& fd, const SocketAddress& address, const ListenerOptions& options) {
  if (options.nodelay) require(SystemKernel::set_nodelay(fd.get()), "setsockopt TCP_NODELAY", address);
  if (options.defer_accept_s > 0) {
    require(SystemKernel::set_defer_accept(fd.get(), options.defer_accept_s), "setsockopt TCP_DEFER_ACCEPT", address);
  }
  require(SystemKernel::listen(fd.get(), options.backlog), "listen", address);
}

void check(const ListenerOptions& options, const char* operation) {
  if (options.backlog < 1) {
    throw NetworkError(EINVAL, operation, "backlog " + std::to_string(options.backlog) + ", expected 1 or more");
  }
  if (options.defer_accept_s < 0) {
    throw NetworkError(EINVAL, operation,
                       "defer_accept_s " + std::to_string(options.defer_accept_s) + ", expected 0 or more");
  }
}

}  // namespace

ListenerOptions::ListenerOptions() : backlog(limits::kDefaultBacklog) {}

Listener::Listener(UniqueFd fd, SocketAddress address, bool shared, bool defers)
    : fd_(std::move(fd)), address_(address), shared_(shared), defers_(defers) {}

Listener::~Listener() {
  if (FLARE_MUTANT(kListenerClosedBeforeJoin) && is_disabled()) static_cast<void>(fd_.release());
}

Result<int> Listener::accept() const {
  return SystemKernel::accept(fd_.get());
}

int Listener::waiting_clients() const {
  const Result<int> backlog = SystemKernel::accept_backlog(fd_.get());
  return backlog.ok() ? backlog.value() : 0;
}

void Listener::stop_deferring() const noexcept {
  if (defers_) static_cast<void>(SystemKernel::set_defer_accept(fd_.get(), 0).ok());
}

bool Listener::disable() {
  // First the call, then the mark: whoever sees the mark must find clients refused. Two that come here together both
  // make the call, which does no harm.
  if (is_disabled()) return false;
  const Status ignored = SystemKernel::disable_listener(fd_.get());
  static_cast<void>(ignored);  // ENOTCONN: the other one was first
  const bool first = !disabled_.exchange(true, std::memory_order_acq_rel);
  if (FLARE_MUTANT(kListenerClosedBeforeJoin) && first) close_fd(fd_.get());
  return first;
}

bool Listener::is_disabled() const {
  return disabled_.load(std::memory_order_acquire);
}

Shared<Listener> bind_shared(const SocketAddress& address, const ListenerOptions& options) {
  check(options, "bind_shared");
  UniqueFd fd = bind_socket(address, options, options.share_port);
  start_listening(fd, address, options);
  const SocketAddress bound = bound_address(fd, address);
  return share<Listener>(std::move(fd), bound, true, options.defer_accept_s > 0);
}

std::vector<Shared<Listener>> bind_reuseport(const SocketAddress& address, int count, const ListenerOptions& options) {
  check(options, "bind_reuseport");
  if (count < 1) {
    throw NetworkError(EINVAL, "bind_reuseport", "count " + std::to_string(count) + ", expected 1 or more");
  }
  // The probe finds out whether somebody listens there, which SO_REUSEPORT hides among servers of one user, and what
  // port 0 becomes. It never listens, so it does not stand in the way of the group, and it keeps the port until then.
  UniqueFd probe;
  SocketAddress bound = address;
  if (!options.share_port || address.port() == 0) {
    probe = bind_socket(address, options, false);
    bound = bound_address(probe, address);
  }
  std::vector<UniqueFd> group;
  group.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) group.push_back(bind_socket(bound, options, true));
  for (const UniqueFd& fd : group) start_listening(fd, bound, options);
  std::vector<Shared<Listener>> listeners;
  listeners.reserve(group.size());
  const bool defers = options.defer_accept_s > 0;
  for (UniqueFd& fd : group) listeners.push_back(share<Listener>(std::move(fd), bound, false, defers));
  return listeners;
}

}  // namespace flare::inline FLARE_ABI
