// flare-serve: starts, serves until a signal, drains, reports. See options.cpp for what it can do.
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "common/cli.h"
#include "flare/base/network_error.h"
#include "flare/http/http_frontend.h"
#include "flare/scheduler/scheduler.h"
#include "serve/gate.h"
#include "serve/handlers.h"
#include "serve/live_stats.h"
#include "serve/options.h"
#include "serve/report.h"

namespace flare::tools {
namespace {

// Set before the signals are unblocked, never changed afterwards: the handler reads no half-made value.
detail::SchedulerHandle* running = nullptr;

// The first signal drains, the next one cuts: request_stop means both.
void on_signal(int) {
  running->request_stop();
}

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
  std::fflush(stderr);
}

int fail(const std::string& why) {
  say("flare-serve: " + why);
  return kExitUsage;
}

int count_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] == '.' ? 0 : 1;
  ::closedir(folder);
  return count - 1;  // without the folder's own
}

// What came of it is said later: a server that can't start says why, in one line, and nothing else.
std::string raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::string("descriptors: the limit is not known");
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (before == limit.rlim_max || ::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return "descriptors: at most " + std::to_string(before);
  }
  return "descriptors: soft limit raised from " + std::to_string(before) + " to " + std::to_string(limit.rlim_max);
}

template <Frontend F>
detail::SchedulerHandle start_gated(const ServeOptions& options, F frontend, const Shared<const Gate>& gate) {
  const std::vector<SocketAddress> extra(options.addresses.begin() + 1, options.addresses.end());
  return Scheduler<Gated<F>>::start(options.addresses.front(), Gated<F>(std::move(frontend), gate), options.workers,
                                    options.pin, extra, options.scheduler);
}

detail::SchedulerHandle start(const ServeOptions& options, const Shared<const Gate>& gate) {
  if (options.handler == HandlerKind::kStatic) {
    return start_gated(options, StaticHttpFrontend(static_response(options), options.http), gate);
  }
  return start_gated(options, HttpFrontend<HttpHandler>(make_handler(options), options.http), gate);
}

void say_what_is_in_force(const detail::SchedulerHandle& scheduler, const ServeOptions& options) {
  const HandoffPolicy policy = scheduler.policy();
  const std::string handoff = policy.enabled ? "on, threshold " + std::to_string(policy.steal_threshold) +
                                                   ", capacity " + std::to_string(policy.capacity)
                                             : std::string("off");
  const int cap = options.scheduler.serving.max_connections;
  say("workers: " + std::to_string(scheduler.worker_count()) + (options.pin ? ", pinned" : ", not pinned"));
  say("listeners: " + scheduler.strategy_name());
  say("handoff: " + handoff);
  say("handler: " + options.handler_name);
  say("connections: " + (cap > 0 ? "at most " + std::to_string(cap) + " per worker" : std::string("no cap")));
  say("drain timeout: " + std::to_string(options.drain_timeout_ms) + " ms");
  for (const SocketAddress& address : scheduler.addresses()) say("listening on " + address.to_string());
}

void set_signals(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  ::pthread_sigmask(how, &set, nullptr);
}

void install_handlers(detail::SchedulerHandle& scheduler) {
  running = &scheduler;
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

// Says what went wrong; the report stands on stdout in any case.
void write_report(const ServeOptions& options, const ServeResult& result, std::FILE* file) {
  const std::string json = serve_json(result);
  const std::string shown = options.report_json ? json : serve_table(result);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() || std::fflush(stdout) != 0) {
    say(std::string("flare-serve: the report can't be written to stdout: ") + std::strerror(errno));
  }
  if (file == nullptr) return;
  const bool written = std::fwrite(json.data(), 1, json.size(), file) == json.size();
  const bool flushed = std::fflush(file) == 0;
  if (!written || !flushed) {
    say("flare-serve: --report-file: '" + options.report_file + "' can't be written: " + std::strerror(errno));
  }
}

int serve(const ServeOptions& options) {
  const std::string descriptors = raise_descriptor_limit();
  // Both files are opened now: a name that can't be written is an error of usage, not of the drain.
  std::FILE* report_file = options.report_file.empty() ? nullptr : std::fopen(options.report_file.c_str(), "we");
  if (report_file == nullptr && !options.report_file.empty()) {
    return fail("--report-file: '" + options.report_file + "' can't be opened: " + std::strerror(errno));
  }
  std::FILE* stats_file = options.stats_file.empty() ? stderr : std::fopen(options.stats_file.c_str(), "we");
  if (stats_file == nullptr) {
    return fail("--stats-file: '" + options.stats_file + "' can't be opened: " + std::strerror(errno));
  }
  std::signal(SIGPIPE, SIG_IGN);
  ServeResult result;
  result.fds_before = count_descriptors();
  set_signals(SIG_BLOCK);
  const auto gate = share<Gate>();
  detail::SchedulerHandle scheduler = start(options, gate);
  result.strategy = scheduler.strategy_name();
  if (!options.warning.empty()) say("flare-serve: " + options.warning);
  say(descriptors);
  say_what_is_in_force(scheduler, options);
  gate->open();
  install_handlers(scheduler);
  std::unique_ptr<LiveStats> live;
  if (options.stats_interval_ms > 0) {
    live = std::make_unique<LiveStats>(scheduler, options.stats_interval_ms, stats_file);
  }
  set_signals(SIG_UNBLOCK);

  scheduler.wait();
  say("draining");
  const auto from = std::chrono::steady_clock::now();
  result.workers = scheduler.drain(options.drain_timeout_ms);
  result.drain_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
  // The scheduler ends with this function; a third signal must not reach it afterwards.
  set_signals(SIG_BLOCK);
  live.reset();
  result.fds_after = count_descriptors();
  write_report(options, result, report_file);
  return serve_exit_code(result.workers);
}

int run(int argc, char** argv) {
  ServeOptions options;
  const int code = parse_serve_options(argc, argv, options);
  if (code >= 0) return code;
  try {
    return serve(options);
  } catch (const std::exception& error) {
    return fail((running == nullptr ? "can't start: " : "failed: ") + std::string(error.what()));
  }
}

}  // namespace
}  // namespace flare::tools

int main(int argc, char** argv) {
  const int code = flare::tools::run(argc, argv);
  std::fflush(nullptr);
  // No destructors: a stuck worker may still be running on what they would take away.
  std::_Exit(code);
}
