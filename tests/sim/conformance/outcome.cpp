#include "conformance/outcome.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace flare::sim::conformance {

namespace {

constexpr int kFirstPort = 7000;  // explicit ports lie above it, and below those that the kernel gives out
constexpr std::size_t kLargest = 4096;

sockaddr_storage address_of(std::uint32_t ip, int port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(ip);
  in.sin_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_storage out{};
  std::memcpy(&out, &in, sizeof in);
  return out;
}

struct Option {
  int level;
  int name;
};
constexpr std::array<Option, 6> kOptions = {Option{SOL_SOCKET, SO_REUSEADDR},      Option{SOL_SOCKET, SO_REUSEPORT},
                                            Option{IPPROTO_TCP, TCP_NODELAY},      Option{SOL_SOCKET, SO_ERROR},
                                            Option{IPPROTO_TCP, TCP_DEFER_ACCEPT}, Option{SOL_SOCKET, SO_ACCEPTCONN}};

Outcome of(Status status) {
  Outcome outcome;
  outcome.error = status.error;
  return outcome;
}
template <class T>
Outcome of(const Result<T>& result) {
  Outcome outcome;
  outcome.error = result.error();
  if (result.ok()) outcome.value = static_cast<std::int64_t>(result.value());
  return outcome;
}

// Bytes that tell where they come from.
std::array<char, kLargest> content(std::uint64_t counter) {
  std::array<char, kLargest> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(counter * 31 + i * 7);
  return bytes;
}

std::uint64_t hash(const char* data, std::size_t size) {
  std::uint64_t value = 1469598103934665603U;
  for (std::size_t i = 0; i < size; ++i) value = (value ^ static_cast<unsigned char>(data[i])) * 1099511628211U;
  return value;
}

std::size_t size_of(const Call& call) {
  return std::min(kLargest, static_cast<std::size_t>(std::max(call.value, 1)));
}

Outcome read_with(World& world, const Call& call) {
  std::array<char, kLargest> bytes{};
  const std::size_t size = size_of(call);
  Outcome outcome =
      of(call.op == Op::kRead ? world.read(call.fd, bytes.data(), size) : world.recv(call.fd, bytes.data(), size));
  if (outcome.error == 0) outcome.content = hash(bytes.data(), static_cast<std::size_t>(outcome.value));
  return outcome;
}

Outcome write_with(World& world, const Call& call, std::uint64_t counter) {
  const std::array<char, kLargest> bytes = content(counter);
  const std::size_t size = size_of(call);
  if (call.op == Op::kSend) return of(world.send(call.fd, bytes.data(), size));
  const std::size_t half = std::min(size, kLargest / 2);
  iovec parts[2] = {{const_cast<char*>(bytes.data()), half}, {const_cast<char*>(bytes.data()) + half, half}};
  return of(world.sendmsg(call.fd, parts, 2));
}

Outcome write_counter(World& world, const Call& call) {
  // Below 0: from the greatest down.
  const auto value = call.value >= 0 ? static_cast<std::uint64_t>(call.value)
                                     : std::numeric_limits<std::uint64_t>::max() + 1 +
                                           static_cast<std::uint64_t>(std::int64_t{call.value});
  return of(world.write(call.fd, &value, sizeof value));
}

Outcome take(World& world, const Call& call) {
  Outcome outcome;
  const Result<int> count = world.epoll_take(call.fd, outcome.events.data(), std::min(call.value, kMostEvents));
  outcome.error = count.error();
  if (count.ok()) outcome.value = count.value();
  return outcome;
}

Outcome name_with(World& world, const Call& call) {
  Outcome outcome;
  const Status status =
      call.op == Op::kName ? world.getsockname(call.fd, &outcome.name) : world.getpeername(call.fd, &outcome.name);
  outcome.error = status.error;
  outcome.named = status.ok();
  return outcome;
}

// The socket's address and port, or nothing.
bool name_in(World& world, int fd, sockaddr_in& out) {
  sockaddr_storage name{};
  if (!world.getsockname(fd, &name).ok() || name.ss_family != AF_INET) return false;
  std::memcpy(&out, &name, sizeof out);
  return out.sin_port != 0;
}

bool listens(World& world, int fd) {
  const Result<int> answer = world.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN);
  return answer.ok() && answer.value() != 0;
}

// What does not listen stands for a port where nobody does, and so does the socket itself: connections without a
// listener, to itself or of two that connect to each other, are left out here.
// A client that has TCP_DEFER_ACCEPT holds its own acknowledgement back, so it does not connect.
Outcome connect_with(World& world, const Call& call, const Place& place) {
  const Result<int> defers = world.getsockopt(call.fd, IPPROTO_TCP, TCP_DEFER_ACCEPT);
  if (defers.ok() && defers.value() != 0 && !listens(world, call.fd)) return Outcome{};
  const sockaddr_storage nobody = address_of(place.ip, kFirstPort);
  sockaddr_in target{};
  std::memcpy(&target, &nobody, sizeof target);
  sockaddr_in own{};
  if (call.other < 0) {
    target.sin_port = htons(static_cast<std::uint16_t>(kFirstPort - call.other));
  } else if (listens(world, call.other) && name_in(world, call.other, own)) {
    target = own;
  }
  const bool itself = name_in(world, call.fd, own) && own.sin_port == target.sin_port;
  sockaddr_storage address = nobody;
  if (!itself) std::memcpy(&address, &target, sizeof target);
  return of(world.connect(call.fd, address, sizeof(sockaddr_in)));
}

Outcome bind_with(World& world, const Call& call, const Place& place) {
  const sockaddr_storage address =
      call.other < 0 ? address_of(INADDR_ANY, 0) : address_of(place.ip, call.other == 0 ? 0 : kFirstPort + call.other);
  return of(world.bind(call.fd, address, sizeof(sockaddr_in)));
}

Outcome pair_with(World& world) {
  int ends[2] = {-1, -1};
  Outcome outcome = of(world.socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, ends));
  if (outcome.error == 0) outcome.value = ends[0] * 1000 + ends[1];
  return outcome;
}

}  // namespace

Outcome make_call(World& world, const Call& call, const Place& place, std::uint64_t counter) {
  const Option option = kOptions[static_cast<std::size_t>(std::max(call.other, 0)) % kOptions.size()];
  switch (call.op) {
    case Op::kEpollCreate:
      return of(world.epoll_create(0));
    case Op::kAdd:
      return of(world.epoll_ctl(call.fd, EPOLL_CTL_ADD, call.other, call.events, counter));
    case Op::kModify:
      return of(world.epoll_ctl(call.fd, EPOLL_CTL_MOD, call.other, call.events, counter));
    case Op::kRemove:
      return of(world.epoll_ctl(call.fd, EPOLL_CTL_DEL, call.other, 0, 0));
    case Op::kTake:
      return take(world, call);
    case Op::kEventfd:
      return of(world.eventfd(static_cast<unsigned>(call.value), EFD_NONBLOCK | (call.other != 0 ? EFD_SEMAPHORE : 0)));
    case Op::kRead:
    case Op::kRecv:
      return read_with(world, call);
    case Op::kWrite:
      return write_counter(world, call);
    case Op::kSocket:
      return of(world.socket(AF_INET, SOCK_STREAM | (call.value != 0 ? 0 : SOCK_NONBLOCK)));
    case Op::kPair:
      return pair_with(world);
    case Op::kOption:
      if (option.name == TCP_DEFER_ACCEPT && option.level == IPPROTO_TCP) {
        if (!listens(world, call.fd)) return Outcome{};
        // For longer than a script takes on the busiest machine: here no timer of the kernel fires.
        return of(world.setsockopt(call.fd, option.level, option.name, call.value * 100));
      }
      return of(world.setsockopt(call.fd, option.level, option.name, call.value));
    case Op::kReadOption:
      return of(world.getsockopt(call.fd, option.level, option.name));
    case Op::kLinger:
      return of(world.set_linger(call.fd, call.value != 0, 0));
    case Op::kBacklog:
      return of(world.accept_backlog(call.fd));
    case Op::kBind:
      return bind_with(world, call, place);
    case Op::kListen:
      return of(world.listen(call.fd, call.value));
    case Op::kAccept:
      return of(world.accept4(call.fd, call.value));
    case Op::kConnect:
      return connect_with(world, call, place);
    case Op::kName:
    case Op::kPeer:
      return name_with(world, call);
    case Op::kShutdown:
      return of(world.shutdown(call.fd, call.value));
    case Op::kSend:
    case Op::kSendParts:
      return write_with(world, call, counter);
    case Op::kClose:
      return of(world.close(call.fd));
    case Op::kDup:
      return of(world.dup(call.fd));
    case Op::kLimit:
      world.set_limit(call.value);
      return Outcome{};
    case Op::kPoll:
      return of(world.poll_bits(call.fd));
    case Op::kCount:
      break;
  }
  return Outcome{};
}

std::string result_class(const Call& call, const Outcome& outcome) {
  std::string text = name_of(call.op);
  if (outcome.error != 0) return text + " " + ::strerrorname_np(outcome.error);
  const bool counts = call.op == Op::kRecv || call.op == Op::kRead || call.op == Op::kTake;
  if (!counts) return text + " ok";
  return text + (outcome.value == 0 ? " 0" : " some");
}

}  // namespace flare::sim::conformance
