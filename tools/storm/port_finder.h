// port_finder.h: source ports that the kernel's hash sends to a given worker, found by asking the server.
// Each server is probed by itself: where a port leads depends on its own group of listeners.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storm/socket.h"

namespace flare::tools {

struct FoundPorts {
  std::vector<std::vector<std::uint16_t>> ports;  // [worker], as many as were wanted
  int probes = 0;
  std::string error;  // "" or why it can't be done
};

// Probes source ports in an order that the seed decides; at most all of 10000..32767 once each. Every probe is closed
// with RST, so the port can be used again at once.
FoundPorts find_ports(const Target& target, const std::vector<int>& wanted, std::uint64_t seed);

}  // namespace flare::tools
