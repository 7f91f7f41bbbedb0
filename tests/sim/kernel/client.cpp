#include "kernel/client.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "kernel/calls.h"

namespace flare::sim {

namespace {

bool is_ready(int fd, unsigned bits) {
  const Result<unsigned> now = machine().poll_bits(kWorld, fd);
  return !now.ok() || (now.value() & (bits | POLLERR | POLLHUP)) != 0;
}

void await(int fd, unsigned bits, Name what) {
  struct Wait {
    int fd;
    unsigned bits;
  } wait{fd, bits};
  Schedule::current()->block(
      what,
      [](void* a) {
        const auto* one = static_cast<Wait*>(a);
        return is_ready(one->fd, one->bits);
      },
      &wait);
}

}  // namespace

Client::Client(const SocketAddress& address) {
  fd_ = in_machine([&](Machine& m) { return m.socket(kWorld, address.family(), SOCK_STREAM | SOCK_NONBLOCK).value(); });
  Schedule::current()->always_point("connect");
  world().touch_names("connect");
  world().touch_listeners("connect");
  error_ = in_machine([&](Machine& m) { return m.connect(kWorld, fd_, address.data(), address.length()); }).error;
  if (error_ == EINPROGRESS) {
    await(fd_, POLLOUT, "connect");
    world().touch(kWorld, fd_, "connect");
    error_ = in_machine([&](Machine& m) { return m.getsockopt(kWorld, fd_, SOL_SOCKET, SO_ERROR).value(); });
  }
  Schedule::current()->note("connect", fd_, -error_);
  if (error_ != 0) close();
}

void ask_stalled_clients() {
  Schedule::current()->always_point("kernel timer");
  world().touch_listeners("kernel timer");
  in_machine([](Machine& m) {
    for (unsigned left = m.stalled(); left > 0; --left) m.retry(left - 1);
    return 0;
  });
}

Client::Client(Client&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), error_(other.error_), end_(other.end_), in_(std::move(other.in_)) {}

bool Client::send(std::string_view text) {
  while (!text.empty()) {
    world().enter_outside(fd_, "client send");
    const Result<std::size_t> sent =
        in_machine([&](Machine& m) { return m.send(kWorld, fd_, text.data(), text.size()); });
    if (!sent.ok() && sent.error() == EAGAIN) {
      await(fd_, POLLOUT, "client send");
      continue;
    }
    static_cast<void>(noted("client send", fd_, sent));
    if (!sent.ok()) return false;
    text.remove_prefix(sent.value());
  }
  return true;
}

bool Client::fill() {
  if (end_ != StreamEnd::kOpen) return false;
  std::array<char, 512> buffer;
  for (;;) {
    await(fd_, POLLIN, "client recv");
    world().enter_outside(fd_, "client recv");
    const Result<std::size_t> got =
        in_machine([&](Machine& m) { return m.recv(kWorld, fd_, buffer.data(), buffer.size()); });
    if (!got.ok() && got.error() == EAGAIN) continue;
    static_cast<void>(noted("client recv", fd_, got));
    if (got.ok() && got.value() > 0) {
      in_.append(buffer.data(), got.value());
      return true;
    }
    end_ = got.ok() ? StreamEnd::kEof : StreamEnd::kReset;
    return false;
  }
}

std::optional<std::string> Client::line() {
  for (;;) {
    const std::size_t end = in_.find('\n');
    if (end != std::string::npos) {
      std::string text = in_.substr(0, end);
      in_.erase(0, end + 1);
      return text;
    }
    if (fd_ < 0 || !fill()) return std::nullopt;
  }
}

std::optional<std::string> Client::bytes(std::size_t size) {
  while (in_.size() < size) {
    if (fd_ < 0 || !fill()) return std::nullopt;
  }
  std::string text = in_.substr(0, size);
  in_.erase(0, size);
  return text;
}

std::optional<std::string> Client::ask(std::string_view text) {
  if (!connected()) return std::nullopt;
  std::string all(text);
  all += '\n';
  static_cast<void>(send(all));  // a reset shows when the answer is read
  return line();
}

StreamEnd Client::await_end() {
  while (fd_ >= 0 && fill()) {
  }
  return end_;
}

void Client::finish_sending() {
  world().enter_outside(fd_, "client shutdown");
  static_cast<void>(in_machine([&](Machine& m) { return m.shutdown(kWorld, fd_, SHUT_WR); }));
}

void Client::close() {
  if (fd_ < 0) return;
  if (Schedule::current() != nullptr) world().enter_outside(fd_, "client close");
  const int fd = std::exchange(fd_, -1);
  static_cast<void>(in_machine([&](Machine& m) { return m.close(kWorld, fd); }));
  if (Schedule::current() != nullptr) Schedule::current()->note("client close", fd, 0);
}

void Client::reset() {
  if (fd_ < 0) return;
  static_cast<void>(in_machine([&](Machine& m) { return m.set_linger(kWorld, fd_, true, 0); }));
  close();
}

Actor::Actor(Name name, std::function<void()> body)
    : thread_(Schedule::current()->spawn(std::make_unique<std::function<void()>>(std::move(body)), name)) {}

void Actor::join() {
  if (thread_ < 0) return;
  Schedule::current()->join(std::exchange(thread_, -1));
}

}  // namespace flare::sim
