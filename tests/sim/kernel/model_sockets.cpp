// The calls of the product on sockets, and the machine that it asks for, over the simulated kernel.
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "engine/settings.h"
#include "flare/kernel/system_kernel.h"
#include "kernel/calls.h"

namespace flare::inline FLARE_ABI {

using sim::in_machine;
using sim::kServer;
using sim::Name;
using sim::noted;
using sim::Schedule;
using sim::world;

namespace {

Status set_option(int fd, int level, int name, int value) {
  world().enter(fd, "setsockopt");
  if (const int error = world().fault("setsockopt", sim::faults::kOptionErrors)) {
    return noted("setsockopt", fd, Status{error});
  }
  return noted("setsockopt", fd,
               in_machine([&](sim::Machine& m) { return m.setsockopt(kServer, fd, level, name, value); }));
}

// A short count where choose says so: 0 is all.
std::size_t shortened(std::size_t size, Name what) {
  if (size < 2) return size;
  return Schedule::current()->choose(2, sim::ChoiceKind::kCalm, what) == 0 ? size : 1;
}

}  // namespace

Result<int> ModelKernel::socket_stream(int family) {
  return sim::opening("socket", sim::faults::kSocketErrors, [&](sim::Machine& m) {
    return m.socket(kServer, family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC);
  });
}

Status ModelKernel::set_reuse_address(int fd) {
  return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
}
Status ModelKernel::set_reuse_port(int fd) {
  return set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
}
Status ModelKernel::set_v6_only(int fd, bool on) {
  return set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, on ? 1 : 0);
}
Status ModelKernel::set_nodelay(int fd) {
  return set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}
Status ModelKernel::set_defer_accept(int fd, int seconds) {
  return set_option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, seconds);
}

Result<int> ModelKernel::accept_backlog(int fd) {
  world().enter(fd, "getsockopt TCP_INFO", false);
  return noted("getsockopt TCP_INFO", fd, in_machine([&](sim::Machine& m) { return m.accept_backlog(kServer, fd); }));
}

Status ModelKernel::bind(int fd, const sockaddr* address, socklen_t length) {
  world().enter(fd, "bind");
  world().touch_names("bind");
  if (const int error = world().fault("bind", sim::faults::kBindErrors)) return noted("bind", fd, Status{error});
  return noted("bind", fd, in_machine([&](sim::Machine& m) { return m.bind(kServer, fd, address, length); }));
}

Status ModelKernel::listen(int fd, int backlog) {
  world().enter(fd, "listen");
  world().touch_names("listen");
  if (const int error = world().fault("listen", sim::faults::kListenErrors)) return noted("listen", fd, Status{error});
  return noted("listen", fd, in_machine([&](sim::Machine& m) { return m.listen(kServer, fd, backlog); }));
}

Status ModelKernel::local_address(int fd, sockaddr_storage* out) {
  world().enter(fd, "getsockname", false);
  if (const int error = world().fault("getsockname", sim::faults::kNameErrors)) {
    return noted("getsockname", fd, Status{error});
  }
  return noted("getsockname", fd, in_machine([&](sim::Machine& m) { return m.getsockname(kServer, fd, out); }));
}

Status ModelKernel::peer_address(int fd, sockaddr_storage* out) {
  world().enter(fd, "getpeername", false);
  return noted("getpeername", fd, in_machine([&](sim::Machine& m) { return m.getpeername(kServer, fd, out); }));
}

Result<int> ModelKernel::accept(int fd) {
  world().enter(fd, "accept", false);
  if (world().take_broken_accept()) return noted("accept", fd, Result<int>::failure(EBADF));
  if (const int error = world().fault("accept", sim::faults::kAcceptErrors)) {
    if (error == ECONNABORTED || error == EPROTO) world().lose_waiting_client(fd);
    return noted("accept", fd, Result<int>::failure(error));
  }
  Result<int> accepted =
      in_machine([&](sim::Machine& m) { return m.accept4(kServer, fd, SOCK_NONBLOCK | SOCK_CLOEXEC); });
  world().touch(kServer, fd, "accept");
  if (accepted.ok()) {
    world().touch(kServer, accepted.value(), "accept");
    world().opened(accepted.value(), "accepted");
  }
  return noted("accept", fd, std::move(accepted));
}

Status ModelKernel::disable_listener(int fd) {
  world().enter(fd, "shutdown listener");
  world().touch_names("shutdown listener");
  return noted("shutdown listener", fd,
               in_machine([&](sim::Machine& m) { return m.shutdown(kServer, fd, SHUT_RDWR); }));
}

Status ModelKernel::shutdown_write(int fd) {
  world().enter(fd, "shutdown");
  return noted("shutdown", fd, in_machine([&](sim::Machine& m) { return m.shutdown(kServer, fd, SHUT_WR); }));
}

Result<std::size_t> ModelKernel::recv(int fd, void* buffer, std::size_t size) {
  world().enter(fd, "recv");
  if (const int error = world().fault("recv", sim::faults::kRecvErrors)) {
    return noted("recv", fd, Result<std::size_t>::failure(error));
  }
  size = shortened(size, "recv: short");
  return noted("recv", fd, in_machine([&](sim::Machine& m) { return m.recv(kServer, fd, buffer, size); }));
}

Result<std::size_t> ModelKernel::send(int fd, const void* data, std::size_t size) {
  world().enter(fd, "send");
  if (const int error = world().fault("send", sim::faults::kSendErrors)) {
    return noted("send", fd, Result<std::size_t>::failure(error));
  }
  size = shortened(size, "send: short");
  return noted("send", fd, in_machine([&](sim::Machine& m) { return m.send(kServer, fd, data, size); }));
}

Result<std::size_t> ModelKernel::send_held(int fd, const void* data, std::size_t size) {
  world().enter(fd, "send, held");
  if (const int error = world().fault("send", sim::faults::kSendErrors)) {
    return noted("send, held", fd, Result<std::size_t>::failure(error));
  }
  // What Linux takes in part, or finds whole segments in, does not stand back.
  const std::uint32_t how = size < 2 ? 0 : Schedule::current()->choose(3, sim::ChoiceKind::kCalm, "send: held");
  return noted("send, held", fd, in_machine([&](sim::Machine& m) {
                 if (how == 0) return m.send_held(kServer, fd, data, size);
                 return m.send(kServer, fd, data, how == 1 ? 1 : size);
               }));
}

Result<std::size_t> ModelKernel::send_parts(int fd, const iovec* parts, int count) {
  world().enter(fd, "sendmsg");
  if (const int error = world().fault("send", sim::faults::kSendErrors)) {
    return noted("sendmsg", fd, Result<std::size_t>::failure(error));
  }
  if (count > 1 && Schedule::current()->choose(2, sim::ChoiceKind::kCalm, "sendmsg: short") != 0) count = 1;
  return noted("sendmsg", fd, in_machine([&](sim::Machine& m) { return m.sendmsg(kServer, fd, parts, count); }));
}

Status ModelKernel::close(int fd) {
  world().closing(fd);
  const int error = world().fault("close", sim::faults::kCloseErrors);
  const Status status = in_machine([&](sim::Machine& m) { return m.close(kServer, fd); });
  world().closed();
  return noted("close", fd, error != 0 ? Status{error} : status);
}

Result<std::vector<int>> ModelKernel::allowed_cpus() {
  return Result<std::vector<int>>(std::vector<int>{0, 1, 2, 3});
}

Status ModelKernel::pin_current_thread(int cpu) {
  Schedule::current()->step();
  return noted("sched_setaffinity", cpu, Status{world().fault("sched_setaffinity", sim::faults::kPinErrors)});
}

Result<std::string> ModelKernel::read_file(const char* /*path*/) {
  return Result<std::string>::failure(ENOENT);  // no cgroup limits here
}

MonoTime ModelKernel::now() {
  Schedule::current()->touch_value(static_cast<std::uint64_t>(Schedule::current()->now()));
  return MonoTime(std::chrono::nanoseconds(Schedule::current()->now()));
}

std::int64_t ModelKernel::wall_seconds() {
  return 1'700'000'000 + Schedule::current()->now() / 1'000'000'000;
}

std::uint64_t ModelKernel::random_u64() {
  return 0x5eed;  // the product spreads load with it; a schedule's choices stand for chance
}

void ModelKernel::write_error(const void* data, std::size_t size) {
  Schedule::current()->note_text("stderr", std::string(static_cast<const char*>(data), size));
}

}  // namespace flare::inline FLARE_ABI
