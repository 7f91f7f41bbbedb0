// own_loopback.h: the address at which a test's servers listen: no other process has it.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string>

#include "flare/net/socket_address.h"

namespace flare::testing {

// An address of this process alone: 127.64.0.0 plus its id, in a net that is loopback as a whole. Another test that
// runs at the same time can neither take a port that this one gave back nor answer in the place of a stopped server.
// A client's own end stays on 127.0.0.1, so its port never stands in a listener's way.
inline SocketAddress own_loopback(std::uint16_t port = 0) {
  const auto id = static_cast<unsigned>(::getpid());  // under 2^22, the system's limit
  std::string text = "127." + std::to_string(64 + (id >> 16)) + "." + std::to_string((id >> 8) & 255);
  text += "." + std::to_string(id & 255) + ":" + std::to_string(port);
  return SocketAddress::parse(text);
}

}  // namespace flare::testing
