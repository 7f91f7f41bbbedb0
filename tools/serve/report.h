// report.h: what became of every connection, as a table for people and as JSON for programs, and the exit code.
#pragma once

#include <string>
#include <vector>

#include "flare/scheduler/shutdown_report.h"

namespace flare::tools {

struct ServeResult {
  std::vector<ShutdownReport> workers;
  std::string strategy;
  int fds_before = 0, fds_after = 0;  // open descriptors before the start and after the drain
  double drain_ms = 0;
};

// The first that applies: 1 the report does not add up, 4 stuck or crashed, 3 cut, 0.
int serve_exit_code(const std::vector<ShutdownReport>& workers);
std::string serve_table(const ServeResult& result);
std::string serve_json(const ServeResult& result);

}  // namespace flare::tools
