#include "conformance/call.h"

#include <sys/epoll.h>

#include <array>
#include <cstddef>

namespace flare::sim::conformance {

namespace {

constexpr std::array<const char*, static_cast<std::size_t>(Op::kCount)> kNames = {
    "epoll_create", "epoll_add", "epoll_modify", "epoll_remove", "epoll_take",  "eventfd",     "read",
    "write",        "socket",    "socketpair",   "setsockopt",   "getsockopt",  "linger",      "backlog",
    "bind",         "listen",    "accept4",      "connect",      "getsockname", "getpeername", "shutdown",
    "recv",         "send",      "sendmsg",      "close",        "dup",         "limit",       "poll"};

}  // namespace

const char* name_of(Op op) {
  return kNames[static_cast<std::size_t>(op)];
}

std::string describe(const Call& call) {
  std::string text = name_of(call.op);
  text += " fd=" + std::to_string(call.fd) + " other=" + std::to_string(call.other);
  text += " value=" + std::to_string(call.value);
  if (call.events == 0) return text;
  text += " events=";
  struct Bit {
    std::uint32_t bit;
    const char* name;
  };
  for (const Bit& bit : {Bit{EPOLLIN, "IN "}, Bit{EPOLLOUT, "OUT "}, Bit{EPOLLRDHUP, "RDHUP "}, Bit{EPOLLET, "ET "},
                         Bit{EPOLLONESHOT, "ONESHOT "}, Bit{EPOLLEXCLUSIVE, "EXCLUSIVE "}}) {
    if ((call.events & bit.bit) != 0) text += bit.name;
  }
  return text;
}

std::string describe(const Script& script) {
  std::string text = "limit " + std::to_string(script.limit) + "\n";
  for (std::size_t i = 0; i < script.calls.size(); ++i) {
    text += "  " + std::to_string(i) + ": " + describe(script.calls[i]) + "\n";
  }
  return text;
}

}  // namespace flare::sim::conformance
