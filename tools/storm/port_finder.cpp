#include "storm/port_finder.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <random>

#include "storm/connection.h"

namespace flare::tools {
namespace {

// Below the ephemeral range, so that the kernel gives none of these to another client meanwhile.
constexpr int kFirstPort = 10'000;
constexpr int kLastPort = 32'767;
constexpr int kProbeTimeoutMs = 5'000;

struct Probe {
  int worker = -1;    // who accepted
  bool busy = false;  // the port is not free here: try another
  std::string error;  // what ends the search
};

Probe failed(const std::string& why) {
  return {-1, false, why};
}

// One request from this port, without blocking for more than the timeout.
Probe probe(const Target& target, std::uint16_t port) {
  const std::string request = "GET / HTTP/1.1\r\nHost: " + target.text + "\r\n\r\n";
  Connection connection;
  Connection::Event event = connection.open(target, {port, false});
  while (event != Connection::Event::kAnswered) {
    if (event == Connection::Event::kEnded) {
      const int error = connection.error();
      if (error == EADDRINUSE || error == EADDRNOTAVAIL) return {-1, true, {}};
      return failed(std::string("a probe ended: ") + ending_name(connection.ending()) +
                    (error != 0 ? std::string(" (") + std::strerror(error) + ")" : ""));
    }
    if (event == Connection::Event::kConnected) {
      event = connection.send(request);
      continue;
    }
    pollfd wait{connection.fd(), static_cast<short>(connection.wants_write() ? POLLIN | POLLOUT : POLLIN), 0};
    if (::poll(&wait, 1, kProbeTimeoutMs) == 0) return failed("a probe was not answered within 5 s");
    event = connection.on_ready((wait.revents & POLLOUT) != 0);
  }
  const int worker = connection.reader().accepted_by();
  connection.end(Ending::kLocal, true);
  if (worker < 0) return failed("answers have no X-Flare-Accepted-By header (flare-serve --worker-headers on)");
  return {worker, false, {}};
}

// A port that leads elsewhere the second time was not placed by the hash.
std::string check_again(const Target& target, FoundPorts& found) {
  for (std::size_t worker = 0; worker < found.ports.size(); ++worker) {
    if (found.ports[worker].empty()) continue;
    const Probe again = probe(target, found.ports[worker].front());
    if (!again.busy) ++found.probes;
    if (!again.error.empty()) return again.error;
    if (!again.busy && again.worker != static_cast<int>(worker)) {
      return "the same source port led to two workers (a shared listener?)";
    }
  }
  return {};
}

}  // namespace

FoundPorts find_ports(const Target& target, const std::vector<int>& wanted, std::uint64_t seed) {
  FoundPorts found;
  found.ports.resize(wanted.size());
  std::vector<int> order(kLastPort - kFirstPort + 1);
  std::iota(order.begin(), order.end(), kFirstPort);
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  int missing = std::accumulate(wanted.begin(), wanted.end(), 0);
  for (const int number : order) {
    if (missing == 0) break;
    const auto port = static_cast<std::uint16_t>(number);
    const Probe first = probe(target, port);
    if (!first.busy) ++found.probes;
    if (!first.error.empty()) found.error = first.error;
    if (!found.error.empty()) return found;
    const auto worker = static_cast<std::size_t>(first.worker);
    if (first.busy || worker >= wanted.size()) continue;
    if (static_cast<int>(found.ports[worker].size()) >= wanted[worker]) continue;
    found.ports[worker].push_back(port);
    --missing;
  }
  found.error = missing == 0 ? check_again(target, found)
                             : "no source port leads to the wanted worker (a shared listener, or too few workers?)";
  return found;
}

}  // namespace flare::tools
