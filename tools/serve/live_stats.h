// live_stats.h: a thread that writes one JSON line of the workers' figures every interval.
// Threads: start and stop: the main thread. The writer only reads the scheduler's statistics.
#pragma once

#include <cstdio>

#include "flare/base/sync.h"
#include "flare/scheduler/scheduler.h"

namespace flare::tools {

// {"t_ms":120,"heap_bytes":90112,"live":[8,0],"accepted":[8,0],...,"heartbeat_age_ms":[0,3],"crashed":0}: a list holds
// one figure per worker. heartbeat_age_ms is 0 for one that sleeps: it is the loop's lag.
std::string live_line(std::int64_t t_ms, const std::vector<WorkerSnapshot>& workers);

class LiveStats {
 public:
  // file stays the caller's. Throws NetworkError when no thread can be had.
  LiveStats(const detail::SchedulerHandle& scheduler, int interval_ms, std::FILE* file);
  ~LiveStats();  // ends the thread
  LiveStats(const LiveStats&) = delete;
  LiveStats& operator=(const LiveStats&) = delete;

 private:
  void run();
  void write_line(std::int64_t t_ms);

  const detail::SchedulerHandle& scheduler_;
  const int interval_ms_;
  std::FILE* const file_;
  Atomic<bool> stop_{false};  // relaxed: it carries nothing but itself; the join orders the rest
  Thread thread_;
};

}  // namespace flare::tools
