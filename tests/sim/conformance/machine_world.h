// machine_world.h: the simulated kernel, as one process.
#pragma once

#include "conformance/world.h"
#include "machine/machine.h"

namespace flare::sim::conformance {

class MachineWorld final : public World {
 public:
  explicit MachineWorld(Chooser& chooser) : machine_(chooser, sizes()) {}

  Machine& machine() { return machine_; }

  void start(int limit) override {
    machine_.reset();
    machine_.set_limit(kServer, limit);
  }
  void set_limit(int limit) override { machine_.set_limit(kServer, limit); }

  Status close(int fd) override { return machine_.close(kServer, fd); }
  Result<int> dup(int fd) override { return machine_.dup(kServer, fd); }
  Result<int> epoll_create(int flags) override { return machine_.epoll_create(kServer, flags); }
  Status epoll_ctl(int ep, int op, int fd, std::uint32_t events, std::uint64_t data) override {
    return machine_.epoll_ctl(kServer, ep, op, fd, events, data);
  }
  Result<int> epoll_take(int ep, epoll_event* events, int max) override {
    return machine_.epoll_take(kServer, ep, events, max);
  }
  Result<int> eventfd(unsigned initial, int flags) override { return machine_.eventfd(kServer, initial, flags); }
  Result<std::size_t> read(int fd, void* out, std::size_t size) override {
    return machine_.read(kServer, fd, out, size);
  }
  Result<std::size_t> write(int fd, const void* data, std::size_t size) override {
    return machine_.write(kServer, fd, data, size);
  }
  Result<int> socket(int family, int type) override { return machine_.socket(kServer, family, type); }
  Status socketpair(int family, int type, int out[2]) override {
    return machine_.socketpair(kServer, family, type, out);
  }
  Status setsockopt(int fd, int level, int name, int value) override {
    return machine_.setsockopt(kServer, fd, level, name, value);
  }
  Status set_linger(int fd, bool on, int seconds) override { return machine_.set_linger(kServer, fd, on, seconds); }
  Result<int> getsockopt(int fd, int level, int name) override { return machine_.getsockopt(kServer, fd, level, name); }
  Result<int> accept_backlog(int fd) override { return machine_.accept_backlog(kServer, fd); }
  Status bind(int fd, const sockaddr_storage& address, socklen_t length) override {
    return machine_.bind(kServer, fd, reinterpret_cast<const sockaddr*>(&address), length);
  }
  Status listen(int fd, int backlog) override { return machine_.listen(kServer, fd, backlog); }
  Result<int> accept4(int fd, int flags) override { return machine_.accept4(kServer, fd, flags); }
  Status connect(int fd, const sockaddr_storage& address, socklen_t length) override {
    return machine_.connect(kServer, fd, reinterpret_cast<const sockaddr*>(&address), length);
  }
  Status getsockname(int fd, sockaddr_storage* out) override { return machine_.getsockname(kServer, fd, out); }
  Status getpeername(int fd, sockaddr_storage* out) override { return machine_.getpeername(kServer, fd, out); }
  Status shutdown(int fd, int how) override { return machine_.shutdown(kServer, fd, how); }
  Result<std::size_t> recv(int fd, void* out, std::size_t size) override {
    return machine_.recv(kServer, fd, out, size);
  }
  Result<std::size_t> send(int fd, const void* data, std::size_t size) override {
    return machine_.send(kServer, fd, data, size);
  }
  Result<std::size_t> sendmsg(int fd, const iovec* parts, int count) override {
    return machine_.sendmsg(kServer, fd, parts, count);
  }
  Result<unsigned> poll_bits(int fd) override { return machine_.poll_bits(kServer, fd); }

  void fall_asleep(int ep) override { waiter_ = machine_.begin_wait(kServer, ep).value(); }
  bool has_woken() override { return machine_.woken(waiter_); }
  void end_sleep() override {
    machine_.end_wait(waiter_);
    waiter_ = kNone;
  }
  bool pass_timers(int fd) override {
    for (unsigned i = 0; i < machine_.stalled(); ++i) machine_.retry(i);
    return (poll_bits(fd).value() & EPOLLOUT) != 0;
  }

 private:
  // Larger than what a script sends: the sizes of the real buffers are not what is compared.
  static Sizes sizes() {
    Sizes sizes;
    sizes.receive_bytes = 1U << 16;
    sizes.send_bytes = 1U << 16;
    sizes.pair_bytes = 1U << 18;
    return sizes;
  }

  Machine machine_;
  int waiter_ = kNone;
};

}  // namespace flare::sim::conformance
