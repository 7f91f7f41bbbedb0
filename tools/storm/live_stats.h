// live_stats.h: one JSON line of the load's figures every interval, as it runs.
// Threads: the load's. The file stays the caller's. A full disk costs lines, never the load.
#pragma once

#include <cstdint>
#include <cstdio>

#include "storm/histogram.h"
#include "storm/tally.h"

namespace flare::tools {

class LiveStats {
 public:
  // file: null, and nothing is written.
  LiveStats(std::FILE* file, std::int64_t interval_ms) : file_(file), interval_ns_(interval_ms * 1'000'000) {}

  void answered(std::uint64_t latency_ns) {
    if (file_ != nullptr) recent_.record(latency_ns);
  }
  // Writes what was since the last line, if the interval is over, or at_end. Times: ns since the load began.
  void tick(std::int64_t since_start_ns, const Tally& tally, bool at_end = false);

 private:
  std::FILE* const file_;
  const std::int64_t interval_ns_;
  std::int64_t last_ = 0;
  Histogram recent_;
};

// {"t_ms":1000,"span_ms":1000,"connected":8,"sent":..,"answered":..,"count":..,"latency_us":{"p50":..,..},
// "below_us":[[64,10],..]}: connected, sent and answered since the load began, the rest of the
// span; below_us: answers by their latency, each power of two that had any.
std::string storm_live_line(std::int64_t t_ms, std::int64_t span_ms, const Tally& tally, const Histogram& recent);

}  // namespace flare::tools
