// options.h: what one run of the storm shall do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storm/socket.h"

namespace flare::tools {

enum class Mode { kKeepAlive, kPerRequest, kSlow, kReset };

struct StormOptions {
  Target target;
  Mode mode = Mode::kKeepAlive;
  std::string method = "GET", path = "/", json_file, stats_file, mode_name = "keep-alive";
  std::int64_t connections = 8;
  std::int64_t rate = 0;                 // requests per second over all clients; 0: each client sends as soon as it may
  std::int64_t requests = 0;             // of all clients together; 0: no limit
  std::int64_t requests_per_client = 0;  // 0: no limit
  std::int64_t duration_ms = 0;
  std::int64_t stats_interval_ms = 1000;
  std::int64_t timeout_ms = 10'000;
  std::int64_t seed = 0;
  std::int64_t body_bytes = 0;
  std::int64_t slow_step_ms = 10, slow_bytes = 64;
  std::int64_t pin_worker = -1;
  std::vector<std::int64_t> spread;  // percent of the connections for each worker; empty: the kernel's choice
  bool reconnect = false, leave = false, expect_clean = false, quiet = false;

  // The request as it goes over the wire.
  std::string request_text() const;
  // How many connections each worker shall get; empty without --pin-worker and --spread.
  std::vector<int> wanted_per_worker() const;
  // The command that runs the same storm again.
  std::string replay_line() const;
};

// -1: go on; else the exit code.
int parse_storm_options(int argc, const char* const* argv, StormOptions& out);

}  // namespace flare::tools
