#include "serve/options.h"

#include <cstdio>

#include "common/cli.h"
#include "flare/base/network_error.h"

#ifndef FLARE_VERSION
#define FLARE_VERSION "unknown"
#endif

namespace flare::tools {
namespace {

const char* const kAbout =
    "flare-serve: an HTTP/1.1 server of flare workers. SIGTERM or SIGINT drains it, a second one cuts; then it "
    "reports.\n"
    "Every flag may also be set in the environment (--max-connections is FLARE_SERVE_MAX_CONNECTIONS) and in a file\n"
    "(--config FILE, lines as max-connections=100). A flag wins over the file, the file over the environment.\n"
    "Exit, the first that applies: 2 usage or it can't start; 1 the report does not add up; 4 a worker was stuck or\n"
    "crashed; 3 connections were cut; 0.";

// What the command line gives, before it becomes the runtime's types.
struct Raw {
  std::vector<std::string> addresses = {"127.0.0.1:8080"};
  std::int64_t workers = 0, threshold = limits::kDefaultStealThreshold, capacity = limits::kDefaultHandoffCapacity;
  std::int64_t drain_timeout = 10'000, max_connections = 0, backlog = limits::kDefaultBacklog, defer_accept = 0;
  std::int64_t max_head = 0, max_target = 0, max_headers = 0, max_body = 0;
  std::int64_t head_ms = 0, body_ms = 0, idle_ms = 0, write_ms = 0;
  std::int64_t stats_interval = 0;
  std::string listeners = "env", handoff = "env", report = "table";
  bool no_pin = false, worker_headers = false, dual_stack = false, share_port = false;
};

std::string check_address(const std::string& text) {
  try {
    SocketAddress::parse(text);
    return {};
  } catch (const NetworkError& error) {
    return "'" + text + "' is not an address with a port, as 127.0.0.1:8080 or [::1]:0 (" + error.what() + ")";
  }
}

void add_serving_flags(FlagSet& flags, Raw& raw, ServeOptions& out) {
  const std::int64_t workers = raw.workers = default_worker_count();
  flags.whole("--workers", raw.workers, limits::kMinWorkers, limits::kMaxWorkers, "Worker threads")
      ->default_val(workers);
  flags.list("--address", raw.addresses, "Where to listen; repeat it for more. Port 0: any free one")
      ->check(CLI::Validator(check_address, "IP:PORT"));
  flags.choice("--listeners", raw.listeners, {"per-worker", "shared", "env"},
               "One listener per worker, or one for all; env: as FLARE_REUSEPORT_WORKERS says");
  flags.choice("--handler", out.handler_name, {"static", "echo", "sleep", "burn", "big", "path"},
               "static: --text, rendered once; echo: the request's body; sleep, burn: --handler-us, then --text; big: "
               "--body-bytes, streamed; path: as the target says: /, /echo, /sleep/US, /burn/US, /big/BYTES, /throw, "
               "/throw-late");
  flags.text("--text", out.text, "Body of an answer");
  flags.whole("--handler-us", out.handler_us, 0, kMostHandlerUs, "sleep, burn: microseconds");
  flags.whole("--body-bytes", out.body_bytes, 0, kMostBodyBytes, "big: size of the body");
  flags.on_off("--worker-headers", raw.worker_headers, "X-Flare-Accepted-By and X-Flare-Worker in every answer");
  flags.on_off("--no-pin", raw.no_pin, "Do not pin workers to CPUs");
  flags.whole("--max-connections", raw.max_connections, 0, 1'000'000, "Per worker; 0: no cap");
  flags.whole("--drain-timeout-ms", raw.drain_timeout, 0, 600'000, "From the signal to the cut; 0 cuts at once");
  flags.choice("--report", raw.report, {"table", "json"}, "Form of the report on stdout");
  flags.text("--report-file", out.report_file, "Write the report as JSON to this file, too");
  flags.whole("--stats-interval-ms", raw.stats_interval, 0, 60'000, "One JSON line of live figures so often; 0: none");
  flags.text("--stats-file", out.stats_file, "Where these lines go; default: stderr");
}

void add_limit_flags(FlagSet& flags, Raw& raw, const HttpConfig& http) {
  constexpr std::int64_t kBytes = 1LL << 40;
  constexpr std::int64_t kMs = 86'400'000;
  raw.max_head = static_cast<std::int64_t>(http.max_head_bytes);
  raw.max_target = static_cast<std::int64_t>(http.max_target_bytes);
  raw.max_headers = static_cast<std::int64_t>(http.max_headers);
  raw.max_body = static_cast<std::int64_t>(http.max_body_bytes);
  raw.head_ms = http.head_deadline.count();
  raw.body_ms = http.body_deadline.count();
  raw.idle_ms = http.idle_deadline.count();
  raw.write_ms = http.write_deadline.count();
  flags.whole("--max-head-bytes", raw.max_head, 1, 1 << 24, "Request line and headers");
  flags.whole("--max-target-bytes", raw.max_target, 1, 1 << 24, "Request target");
  flags.whole("--max-headers", raw.max_headers, 1, 100'000, "Headers of a request");
  flags.whole("--max-body-bytes", raw.max_body, 0, kBytes, "Body of a request");
  flags.whole("--head-deadline-ms", raw.head_ms, 1, kMs, "For a whole head");
  flags.whole("--body-deadline-ms", raw.body_ms, 1, kMs, "Without progress of a body");
  flags.whole("--idle-deadline-ms", raw.idle_ms, 1, kMs, "Between two requests");
  flags.whole("--write-deadline-ms", raw.write_ms, 1, kMs, "Without progress of an answer");
  flags.whole("--backlog", raw.backlog, 1, 65'535, "Clients that wait for accept, per listener");
  flags.on_off("--dual-stack", raw.dual_stack, "An IPv6 listener serves IPv4, too");
  flags.on_off("--share-port", raw.share_port, "Another process of this user may serve the same port");
  flags.whole("--defer-accept", raw.defer_accept, 0, 3'600,
              "TCP_DEFER_ACCEPT in seconds: clients that are silent are not accepted; 0: off");
}

// A flag wins over FLARE_SOAK_WORKERS.
HandoffPolicy policy_of(const Raw& raw, bool threshold_given, std::string& warning) {
  const HandoffPolicy asked(raw.handoff == "on", static_cast<int>(raw.capacity), static_cast<int>(raw.threshold));
  if (raw.handoff != "env") return asked;
  HandoffPolicy policy = HandoffPolicy::from_env(asked, &warning);
  if (threshold_given) policy.steal_threshold = asked.steal_threshold;
  return policy;
}

void convert(const Raw& raw, ServeOptions& out) {
  for (const std::string& text : raw.addresses) out.addresses.push_back(SocketAddress::parse(text));
  out.workers = static_cast<int>(raw.workers);
  out.pin = !raw.no_pin;
  out.handler = out.handler_name == "static"  ? HandlerKind::kStatic
                : out.handler_name == "echo"  ? HandlerKind::kEcho
                : out.handler_name == "sleep" ? HandlerKind::kSleep
                : out.handler_name == "burn"  ? HandlerKind::kBurn
                : out.handler_name == "path"  ? HandlerKind::kPath
                                              : HandlerKind::kBig;
  out.drain_timeout_ms = static_cast<int>(raw.drain_timeout);
  out.report_json = raw.report == "json";
  out.stats_interval_ms = static_cast<int>(raw.stats_interval);
  out.http.max_head_bytes = static_cast<std::size_t>(raw.max_head);
  out.http.max_target_bytes = static_cast<std::size_t>(raw.max_target);
  out.http.max_headers = static_cast<std::size_t>(raw.max_headers);
  out.http.max_body_bytes = static_cast<std::size_t>(raw.max_body);
  out.http.head_deadline = std::chrono::milliseconds(raw.head_ms);
  out.http.body_deadline = std::chrono::milliseconds(raw.body_ms);
  out.http.idle_deadline = std::chrono::milliseconds(raw.idle_ms);
  out.http.write_deadline = std::chrono::milliseconds(raw.write_ms);
  out.http.worker_headers = raw.worker_headers;
  out.scheduler.strategy = raw.listeners == "per-worker" ? ListenerStrategy::kPerWorker
                           : raw.listeners == "shared"   ? ListenerStrategy::kShared
                                                         : ListenerStrategy::kFromEnvironment;
  out.scheduler.listener.backlog = static_cast<int>(raw.backlog);
  out.scheduler.listener.dual_stack = raw.dual_stack;
  out.scheduler.listener.share_port = raw.share_port;
  out.scheduler.listener.defer_accept_s = static_cast<int>(raw.defer_accept);
  out.scheduler.serving.max_connections = static_cast<int>(raw.max_connections);
}

}  // namespace

int parse_serve_options(int argc, const char* const* argv, ServeOptions& out) {
  CLI::App app(kAbout, "flare-serve");
  app.set_version_flag("--version", std::string("flare-serve ") + FLARE_VERSION);
  app.set_config("--config", "", "A file of flags, one a line")->envname("FLARE_SERVE_CONFIG");
  app.allow_config_extras(CLI::config_extras_mode::error);
  FlagSet flags(app, "FLARE_SERVE_");
  Raw raw;
  add_serving_flags(flags, raw, out);
  flags.choice("--handoff", raw.handoff, {"on", "off", "env"},
               "Move connections to less loaded workers; env: as FLARE_SOAK_WORKERS says");
  auto* threshold = flags.whole("--handoff-threshold", raw.threshold, 0, 1'000'000,
                                "Smallest difference of loads at which a connection moves; below 1 acts as 1");
  flags.whole("--handoff-capacity", raw.capacity, 0, limits::kMaxHandoffCapacity,
              "Connections that wait for one worker");
  add_limit_flags(flags, raw, out.http);
  const int code = parse_command_line(app, argc, argv);
  if (code >= 0) return code;
  try {
    convert(raw, out);
    out.scheduler.policy = policy_of(raw, threshold->count() > 0, out.warning);
    out.http.validate();
  } catch (const NetworkError& error) {
    std::fprintf(stderr, "flare-serve: %s (see --help)\n", error.what());
    return kExitUsage;
  }
  return -1;
}

}  // namespace flare::tools
