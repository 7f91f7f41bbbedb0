// asking.h: servers and clients of the small scenarios of accepting.
#pragma once

#include "scenarios/waiting.h"

namespace flare::sim {

inline Setup shared_setup() {
  Setup setup;
  setup.strategy = ListenerStrategy::kShared;
  return setup;
}

// "stick" waits at the gate.
inline LineFrontend sticking(const std::shared_ptr<Gate>& gate) {
  return LineFrontend([gate](const std::string& line, int) {
    if (line == "stick") gate->pass();
    return line;
  });
}

inline Client asking(const SocketAddress& address, std::string_view line = "x\n") {
  Client client(address);
  require(client.connected() && client.send(line), "service", "a client was refused");
  return client;
}

inline void require_answer(Client& client) {
  require(client.line() == "x", "service", "a client was not answered");
}

// Every descriptor that is left to the process.
inline std::vector<int> take_all_descriptors() {
  std::vector<int> taken;
  for (;;) {
    const Result<int> one = SystemKernel::socket_stream(AF_INET);
    if (!one.ok()) return taken;
    taken.push_back(one.value());
  }
}

}  // namespace flare::sim
