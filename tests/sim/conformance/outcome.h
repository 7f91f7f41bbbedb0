// outcome.h: what one call gave, from either kernel.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

#include "conformance/call.h"
#include "conformance/world.h"

namespace flare::sim::conformance {

inline constexpr int kMostEvents = 64;

struct Outcome {
  int error = 0;
  std::int64_t value = 0;
  std::array<epoll_event, kMostEvents> events{};  // of a take: value of them
  bool named = false;
  sockaddr_storage name{};
  std::uint64_t content = 0;  // of the bytes that were read
};

// The address of this script's own loopback: nothing of another script is there.
struct Place {
  std::uint32_t ip = 0x7f000001;  // host order
};

// Makes the call. Content that is sent follows from counter, the same in both kernels.
Outcome make_call(World& world, const Call& call, const Place& place, std::uint64_t counter);

// The (call, result) pair that coverage counts.
std::string result_class(const Call& call, const Outcome& outcome);

}  // namespace flare::sim::conformance
