// generator.h: random scripts that lead somewhere: most calls go to descriptors that they fit.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "conformance/call.h"
#include "conformance/machine_world.h"
#include "conformance/outcome.h"

namespace flare::sim::conformance {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), shadow_(calm_) {}
  Script make();

 private:
  // What a script is about; not everything at once.
  struct Theme {
    bool groups = false;      // SO_REUSEPORT
    bool deferred = false;    // TCP_DEFER_ACCEPT
    bool half_close = false;  // shutdown of writing on TCP
    bool edge = false;        // EPOLLET on TCP
    bool tight = false;       // few numbers
    bool names = false;       // fights for ports
  };
  struct Known {
    std::vector<int> all, sets, counters, sockets, listeners, connected, fresh, pairs;
  };

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  int pick(const std::vector<int>& from);
  void look();
  void emit(const Call& call);
  void prelude();
  void random_call();
  void epoll_call();
  void stream_call();
  void socket_call();
  void other_call();
  void open_listener();
  void open_connection();
  std::uint32_t interest(int fd);
  int how_to_shut(int fd);
  bool is_tcp(int fd) const;

  std::mt19937_64 random_;
  CalmChooser calm_;
  MachineWorld shadow_;  // follows the script to know what is open
  Theme theme_;
  Known known_;
  std::vector<std::pair<int, int>> registered_;  // once: a set and a number
  Script script_;
  Outcome last_;
};

}  // namespace flare::sim::conformance
