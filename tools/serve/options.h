// options.h: what flare-serve was asked for, by flags, else by a file, else by the environment (FLARE_SERVE_...).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flare/http/http_config.h"
#include "flare/net/socket_address.h"
#include "flare/scheduler/scheduler.h"

namespace flare::tools {

enum class HandlerKind { kStatic, kEcho, kSleep, kBurn, kBig, kPath };

inline constexpr std::int64_t kMostHandlerUs = 60'000'000;
inline constexpr std::int64_t kMostBodyBytes = 1LL << 40;

struct ServeOptions {
  std::vector<SocketAddress> addresses;  // the first is the main one
  int workers = 1;
  bool pin = true;
  HandlerKind handler = HandlerKind::kStatic;
  std::string handler_name = "static", text = "hello, world\n";
  std::int64_t handler_us = 1000, body_bytes = 1 << 20;
  int drain_timeout_ms = 10'000;
  HttpConfig http;
  SchedulerOptions scheduler;
  std::string warning;  // an environment value that was not understood and changed nothing
  bool report_json = false;
  std::string report_file, stats_file;
  int stats_interval_ms = 0;  // 0: no live statistics
};

// -1: go on; else the exit code (one line was printed).
int parse_serve_options(int argc, const char* const* argv, ServeOptions& out);

}  // namespace flare::tools
