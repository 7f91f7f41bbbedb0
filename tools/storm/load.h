// load.h: all clients of one run on one epoll set: when each connects, sends, steps, times out and ends.
// Threads: one. Bounds: the clients of the options; the run ends at its duration plus one request timeout.
#pragma once

#include <csignal>
#include <cstdint>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "storm/connection.h"
#include "storm/live_stats.h"
#include "storm/options.h"
#include "storm/tally.h"

namespace flare::tools {

// Where one client comes from.
struct Origin {
  std::uint16_t port = 0;  // 0: the kernel's choice
  int wanted_worker = -1;
};

class Load {
 public:
  // interrupted: set by a signal handler; the run then ends as if its time were over.
  // stats_file: for a line of figures every interval, or null.
  Load(const StormOptions& options, std::vector<Origin> origins, const volatile std::sig_atomic_t& interrupted,
       std::FILE* stats_file = nullptr);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  Tally run();

 private:
  using Ns = std::int64_t;  // of the monotonic clock

  struct Client {
    Connection connection;
    Origin origin;
    std::int64_t sent = 0;
    Ns due = 0;       // rate: when the next request is meant to go out
    Ns intended = 0;  // of the request under way
    Ns opened_at = 0;
    Ns deadline = 0;     // of the connect or answer under way
    unsigned timer = 0;  // only the newest timer of a client counts
    unsigned armed = 0;  // interest in the epoll set; 0: not in it
    bool ended = false;  // for good
    int reset_plan = 0;
  };
  struct Timer {
    Ns when;
    std::size_t client;
    unsigned number;
    bool operator<(const Timer& other) const { return when > other.when; }
  };

  static Ns now();
  bool may_send(const Client& client) const;
  bool nothing_left() const;
  void wait_for_events();
  void open(std::size_t index);
  void resume(std::size_t index);  // the client is free: send, connect, wait for its time, or end
  void begin(std::size_t index);
  void dispatch(std::size_t index, Connection::Event event);
  void answered(std::size_t index);
  void ended(std::size_t index);
  void end_locally(std::size_t index, Ending ending);
  void on_timer(std::size_t index);
  void run_timers(Ns time);
  void sweep(Ns time);
  void stop();
  void arm_timer(std::size_t index, Ns when);
  void set_interest(std::size_t index);

  const StormOptions& options_;
  const volatile std::sig_atomic_t& interrupted_;
  const std::string request_;
  const Ns interval_;  // rate: between two requests of one client
  int epoll_ = -1;
  std::vector<Client> clients_;
  std::priority_queue<Timer> timers_;
  std::mt19937_64 random_;
  Tally tally_;
  LiveStats live_stats_;
  bool stopping_ = false;
};

}  // namespace flare::tools
