// flare-storm: see options.cpp for what it can do.
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "common/cli.h"
#include "storm/load.h"
#include "storm/options.h"
#include "storm/port_finder.h"
#include "storm/report.h"

namespace flare::tools {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_signal(int) {
  interrupted = 1;
}

int fail(const std::string& message) {
  std::fprintf(stderr, "flare-storm: %s\n", message.c_str());
  return kExitUsage;
}

// Clients need descriptors: as many as the hard limit gives. "" or what is missing.
std::string raise_descriptor_limit(std::int64_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const auto needed = static_cast<rlim_t>(connections) + 16;
  if (limit.rlim_max >= needed) return {};
  return "--connections: '" + std::to_string(connections) + "' needs " + std::to_string(needed) +
         " descriptors, the hard limit is " + std::to_string(limit.rlim_max);
}

bool write_text(const std::string& path, const std::string& text) {
  std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool flushed = (path == "-" ? std::fflush(file) : std::fclose(file)) == 0;
  return written && flushed;
}

int run(int argc, char** argv) {
  StormOptions options;
  const int code = parse_storm_options(argc, argv, options);
  if (code >= 0) return code;
  const std::string limit = raise_descriptor_limit(options.connections);
  if (!limit.empty()) return fail(limit);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);

  std::vector<Origin> origins;
  const std::vector<int> wanted = options.wanted_per_worker();
  FoundPorts found;
  if (!wanted.empty()) {
    found = find_ports(options.target, wanted, static_cast<std::uint64_t>(options.seed));
    if (!found.error.empty()) return fail("finding source ports on " + options.target.text + ": " + found.error);
  }
  for (std::size_t worker = 0; worker < found.ports.size(); ++worker) {
    for (const std::uint16_t port : found.ports[worker]) origins.push_back({port, static_cast<int>(worker)});
  }
  if (wanted.empty()) origins.resize(static_cast<std::size_t>(options.connections));

  std::FILE* stats_file = options.stats_file.empty() ? nullptr : std::fopen(options.stats_file.c_str(), "we");
  if (stats_file == nullptr && !options.stats_file.empty()) {
    return fail("--stats-file: '" + options.stats_file + "' can't be opened: " + std::strerror(errno));
  }
  Load load(options, std::move(origins), interrupted, stats_file);
  Tally tally = load.run();
  tally.probes = found.probes;
  const bool json_to_stdout = options.json_file == "-";
  if (!options.quiet && !json_to_stdout) std::fputs(storm_table(options, tally).c_str(), stdout);
  std::fflush(stdout);
  if (!options.json_file.empty() && !write_text(options.json_file, storm_json(options, tally))) {
    return fail("--json: '" + options.json_file + "' can't be written");
  }
  return options.expect_clean && !tally.clean() ? 1 : 0;
}

}  // namespace
}  // namespace flare::tools

int main(int argc, char** argv) {
  try {
    return flare::tools::run(argc, argv);
  } catch (const std::exception& error) {
    return flare::tools::fail(error.what());
  }
}
