#include "serve/live_stats.h"

#include <malloc.h>
#include <time.h>

#include <algorithm>

#include "flare/base/network_error.h"

namespace flare::tools {
namespace {

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

void append_list(std::string& out, const char* name, const std::vector<WorkerSnapshot>& workers,
                 std::uint64_t WorkerSnapshot::* field) {
  out += std::string(",\"") + name + "\":[";
  for (std::size_t i = 0; i < workers.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(workers[i].*field);
  out += ']';
}

// What malloc has given out and not got back; big pieces are mapped, and counted apart.
std::int64_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

}  // namespace

std::string live_line(std::int64_t t_ms, const std::vector<WorkerSnapshot>& workers) {
  std::string out = "{\"t_ms\":" + std::to_string(t_ms) + ",\"heap_bytes\":" + std::to_string(heap_bytes());
  append_list(out, "live", workers, &WorkerSnapshot::live);
  append_list(out, "accepted", workers, &WorkerSnapshot::accepted);
  append_list(out, "received", workers, &WorkerSnapshot::received);
  append_list(out, "handed_out", workers, &WorkerSnapshot::handed_out);
  append_list(out, "requests", workers, &WorkerSnapshot::requests);
  append_list(out, "queued", workers, &WorkerSnapshot::queued);
  append_list(out, "timers", workers, &WorkerSnapshot::timers);
  append_list(out, "accept_pauses", workers, &WorkerSnapshot::accept_pauses);
  append_list(out, "refused", workers, &WorkerSnapshot::refused);
  append_list(out, "finished", workers, &WorkerSnapshot::finished);
  append_list(out, "cut", workers, &WorkerSnapshot::cut);
  append_list(out, "accept_errors", workers, &WorkerSnapshot::accept_errors);
  append_list(out, "handler_errors", workers, &WorkerSnapshot::handler_errors);
  append_list(out, "ticks", workers, &WorkerSnapshot::ticks);
  append_list(out, "wakes_sent", workers, &WorkerSnapshot::wakes_sent);
  append_list(out, "taken_back", workers, &WorkerSnapshot::taken_back);
  out += ",\"heartbeat_age_ms\":[";
  for (std::size_t i = 0; i < workers.size(); ++i) {
    out += (i == 0 ? "" : ",") + std::to_string(workers[i].sleeping ? 0 : workers[i].heartbeat_age_ms);
  }
  out += "],\"crashed\":" + std::to_string(std::count_if(workers.begin(), workers.end(),
                                                         [](const WorkerSnapshot& one) { return one.crashed; }));
  return out + "}";
}

LiveStats::LiveStats(const detail::SchedulerHandle& scheduler, int interval_ms, std::FILE* file)
    : scheduler_(scheduler), interval_ms_(interval_ms), file_(file) {
  Result<Thread> thread = Thread::start([this]() { run(); });
  if (!thread.ok()) throw NetworkError(thread.error(), "start of the thread for live statistics");
  thread_ = std::move(thread).value();
}

LiveStats::~LiveStats() {
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void LiveStats::run() {
  const std::int64_t start = now_ms();
  std::int64_t next = start;
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::int64_t now = now_ms();
    if (now >= next) {
      write_line(now - start);
      next = now + interval_ms_;
    }
    // In short steps, so that the end of the server never waits for a long interval.
    const timespec nap{0, std::clamp<long>(static_cast<long>(next - now_ms()), 1, 20) * 1'000'000};
    ::nanosleep(&nap, nullptr);
  }
}

void LiveStats::write_line(std::int64_t t_ms) {
  const std::vector<WorkerSnapshot> workers = scheduler_.stats();
  if (workers.empty()) return;  // stopped: the report tells the rest
  // A full disk costs live figures, never the service.
  std::fprintf(file_, "%s\n", live_line(t_ms, workers).c_str());
  std::fflush(file_);
}

}  // namespace flare::tools
