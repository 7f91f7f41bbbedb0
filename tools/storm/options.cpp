#include "storm/options.h"

#include <sys/random.h>

#include <cstdio>
#include <numeric>
#include <sstream>

#include "common/cli.h"

#ifndef FLARE_VERSION
#define FLARE_VERSION "unknown"
#endif

namespace flare::tools {
namespace {

const char* const kAbout =
    "flare-storm: load on a server on this machine's loopback, and exactly how each connection ended.\n"
    "Exit: 0 done; 1 --expect-clean was given and an answer was truncated or a request was reset; 2 usage.";

std::int64_t random_seed() {
  std::uint32_t value = 0;
  // A seed that can't be drawn is 0: the run is as good, and prints it.
  if (::getrandom(&value, sizeof(value), 0) != sizeof(value)) value = 0;
  return value;
}

// "70,10,10,10": percents that make 100.
std::string check_spread(const std::vector<std::string>& parts, std::vector<std::int64_t>& out) {
  std::int64_t sum = 0;
  for (const std::string& part : parts) {
    std::int64_t value = 0;
    const std::string wrong = check_whole(part, 0, 100);
    if (!wrong.empty()) return wrong;
    parse_whole(part, value);
    out.push_back(value);
    sum += value;
  }
  if (parts.empty() || sum == 100) return {};
  return "the percents make " + std::to_string(sum) + ", not 100";
}

int usage(const std::string& message) {
  std::fprintf(stderr, "flare-storm: %s (see --help)\n", message.c_str());
  return kExitUsage;
}

}  // namespace

int parse_storm_options(int argc, const char* const* argv, StormOptions& out) {
  CLI::App app(kAbout, "flare-storm");
  app.set_version_flag("--version", std::string("flare-storm ") + FLARE_VERSION);
  FlagSet flags(app, "");
  std::string target;
  std::vector<std::string> spread;
  app.add_option("target", target, "Where to: 127.0.0.1:PORT or [::1]:PORT")->required();
  flags.choice("--mode", out.mode_name, {"keep-alive", "per-request", "slow", "reset"},
               "keep-alive: one connection per client; per-request: a new one for each request; slow: slow readers and "
               "writers; reset: clients that reset");
  flags.whole("--connections", out.connections, 1, 20'000, "Clients, all opened at once");
  flags.whole("--rate", out.rate, 0, 1'000'000,
              "Requests per second over all clients, latency from the intended send time; 0: full speed");
  flags.whole("--requests", out.requests, 0, 1'000'000'000, "Stop after so many; clients stay connected until then");
  flags.whole("--requests-per-client", out.requests_per_client, 0, 1'000'000'000, "The same for each client");
  flags.whole("--duration-ms", out.duration_ms, 0, 600'000,
              "Stop after so long; 0: 5 s, or 60 s with a number of requests");
  flags.whole("--timeout-ms", out.timeout_ms, 1, 60'000, "For a connect and for an answer");
  flags.whole("--pin-worker", out.pin_worker, -1, 255,
              "Use source ports that the kernel sends to this worker (found by probing; -1: off)");
  flags.list("--spread", spread, "Percent of the connections for each worker by pinned ports, as 70,10,10,10")
      ->allow_extra_args(true);
  auto* seed = flags.whole("--seed", out.seed, 0, 4'294'967'295, "Of ports and choices; default: random, printed");
  flags.text("--method", out.method, "Request method");
  flags.text("--path", out.path, "Request target");
  flags.whole("--body-bytes", out.body_bytes, 0, 16 << 20, "Size of a request body");
  flags.whole("--slow-step-ms", out.slow_step_ms, 1, 10'000, "slow: pause between two steps");
  flags.whole("--slow-bytes", out.slow_bytes, 1, 65'536, "slow: bytes in one step");
  flags.text("--json", out.json_file, "Write the report as JSON to this file ('-': stdout, no table)");
  flags.text("--stats-file", out.stats_file, "Write a JSON line of figures to this file every interval");
  flags.whole("--stats-interval-ms", out.stats_interval_ms, 10, 3'600'000, "Of --stats-file");
  flags.on_off("--reconnect", out.reconnect, "Keep-alive clients whose connection ended connect again");
  flags.on_off("--leave", out.leave, "A client that has sent all that it may closes, and does not wait for the others");
  flags.on_off("--expect-clean", out.expect_clean, "Exit 1 after a truncated answer or a reset of a request");
  flags.on_off("--quiet", out.quiet, "No table");
  const int code = parse_command_line(app, argc, argv);
  if (code >= 0) return code;

  std::string wrong = Target::parse(target, out.target);
  if (!wrong.empty()) return usage("target: " + wrong);
  wrong = check_spread(spread, out.spread);
  if (!wrong.empty()) return usage("--spread: " + wrong);
  if (!spread.empty() && out.pin_worker >= 0) return usage("--spread and --pin-worker exclude each other");
  if (out.path.empty() || out.path[0] != '/') return usage("--path: '" + out.path + "' does not begin with /");
  out.mode = out.mode_name == "keep-alive"    ? Mode::kKeepAlive
             : out.mode_name == "per-request" ? Mode::kPerRequest
             : out.mode_name == "slow"        ? Mode::kSlow
                                              : Mode::kReset;
  if (out.duration_ms == 0) out.duration_ms = out.requests + out.requests_per_client > 0 ? 60'000 : 5'000;
  if (seed->count() == 0) out.seed = random_seed();
  return -1;
}

std::string StormOptions::request_text() const {
  std::string text = method + " " + path + " HTTP/1.1\r\nHost: " + target.text + "\r\n";
  if (mode == Mode::kPerRequest) text += "Connection: close\r\n";
  if (body_bytes > 0) text += "Content-Length: " + std::to_string(body_bytes) + "\r\n";
  return text + "\r\n" + std::string(static_cast<std::size_t>(body_bytes), 'x');
}

std::vector<int> StormOptions::wanted_per_worker() const {
  std::vector<int> wanted;
  if (pin_worker >= 0) {
    wanted.assign(static_cast<std::size_t>(pin_worker) + 1, 0);
    wanted.back() = static_cast<int>(connections);
    return wanted;
  }
  for (const std::int64_t percent : spread) wanted.push_back(static_cast<int>(connections * percent / 100));
  // What rounding left over goes round from the first worker.
  auto rest = static_cast<int>(connections) - std::accumulate(wanted.begin(), wanted.end(), 0);
  for (std::size_t i = 0; !wanted.empty() && rest > 0; i = (i + 1) % wanted.size(), --rest) ++wanted[i];
  return wanted;
}

std::string StormOptions::replay_line() const {
  std::ostringstream line;
  line << "flare-storm " << target.text << " --mode " << mode_name << " --connections " << connections;
  if (rate > 0) line << " --rate " << rate;
  if (requests > 0) line << " --requests " << requests;
  if (requests_per_client > 0) line << " --requests-per-client " << requests_per_client;
  line << " --duration-ms " << duration_ms << " --timeout-ms " << timeout_ms;
  if (pin_worker >= 0) line << " --pin-worker " << pin_worker;
  for (std::size_t i = 0; i < spread.size(); ++i) line << (i == 0 ? " --spread " : ",") << spread[i];
  if (method != "GET") line << " --method " << method;
  if (path != "/") line << " --path '" << path << "'";
  if (body_bytes > 0) line << " --body-bytes " << body_bytes;
  if (mode == Mode::kSlow) line << " --slow-step-ms " << slow_step_ms << " --slow-bytes " << slow_bytes;
  if (reconnect) line << " --reconnect";
  if (leave) line << " --leave";
  if (expect_clean) line << " --expect-clean";
  line << " --seed " << seed;
  return line.str();
}

}  // namespace flare::tools
