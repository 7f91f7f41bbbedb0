#include "storm/report.h"

#include <cstdio>
#include <cstring>

namespace flare::tools {
namespace {

double us(std::uint64_t ns) {
  return static_cast<double>(ns) / 1000.0;
}

double rate_of(const Tally& tally) {
  return tally.seconds > 0 ? static_cast<double>(tally.answered) / tally.seconds : 0;
}

template <class... Values>
void line(std::string& out, const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof(text), format, values...);
  out += text;
  out += '\n';
}

std::string counts(const std::vector<std::uint64_t>& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += (i == 0 ? "" : "  ") + std::string("w") + std::to_string(i) + "=" + std::to_string(list[i]);
  }
  return text.empty() ? "unknown (answers have no X-Flare-Worker header)" : text;
}

}  // namespace

std::string storm_table(const StormOptions& options, const Tally& tally) {
  std::string out;
  const Histogram& latency = tally.latency_ns;
  line(out, "target       %s, %s, %lld clients, seed %lld", options.target.text.c_str(), options.mode_name.c_str(),
       static_cast<long long>(options.connections), static_cast<long long>(options.seed));
  line(out, "requests     %llu sent, %llu answered in %.3f s: %.0f per second",
       static_cast<unsigned long long>(tally.sent), static_cast<unsigned long long>(tally.answered), tally.seconds,
       rate_of(tally));
  line(out, "latency us   p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.1f%s", us(latency.quantile(0.5)),
       us(latency.quantile(0.9)), us(latency.quantile(0.99)), us(latency.quantile(0.999)), us(latency.max()),
       options.rate > 0 ? "  (from the intended send time)" : "");
  line(out, "connections  %llu opened, %llu connected, %llu moved to another worker",
       static_cast<unsigned long long>(tally.opened), static_cast<unsigned long long>(tally.connected),
       static_cast<unsigned long long>(tally.moved));
  out += "by worker    " + counts(tally.by_worker) + "\n";
  if (tally.misplaced > 0) {
    line(out, "misplaced    %llu connections from pinned ports were accepted by another worker",
         static_cast<unsigned long long>(tally.misplaced));
  }
  std::string statuses;
  for (const auto& [status, count] : tally.statuses) {
    statuses += "  " + std::to_string(status) + "=" + std::to_string(count);
  }
  out += "status     " + (statuses.empty() ? "  none" : statuses) + "\n";
  std::string endings;
  for (std::size_t i = 1; i < tally.endings.size(); ++i) {
    if (tally.endings[i] == 0) continue;
    endings += std::string("  ") + ending_name(static_cast<Ending>(i)) + "=" + std::to_string(tally.endings[i]);
  }
  out += "endings    " + (endings.empty() ? "  none" : endings) + "\n";
  for (const auto& [error, count] : tally.connect_errors) {
    line(out, "connect      %s: %llu", std::strerror(error), static_cast<unsigned long long>(count));
  }
  out += "replay       " + options.replay_line() + "\n";
  return out;
}

nlohmann::ordered_json latency_json(const Histogram& latency_ns) {
  return {{"p50", us(latency_ns.quantile(0.5))},  {"p90", us(latency_ns.quantile(0.9))},
          {"p99", us(latency_ns.quantile(0.99))}, {"p999", us(latency_ns.quantile(0.999))},
          {"max", us(latency_ns.max())},          {"mean", latency_ns.mean() / 1000.0}};
}

std::string storm_json(const StormOptions& options, const Tally& tally) {
  nlohmann::ordered_json endings;
  for (std::size_t i = 1; i < tally.endings.size(); ++i) {
    endings[ending_name(static_cast<Ending>(i))] = tally.endings[i];
  }
  nlohmann::ordered_json statuses = nlohmann::ordered_json::object();
  for (const auto& [status, count] : tally.statuses) statuses[std::to_string(status)] = count;
  std::uint64_t worst = 0;
  for (const std::uint64_t count : tally.by_worker) worst = std::max(worst, count);
  const nlohmann::ordered_json report = {
      {"target", options.target.text},
      {"mode", options.mode_name},
      {"clients", options.connections},
      {"seed", options.seed},
      {"seconds", tally.seconds},
      {"sent", tally.sent},
      {"answered", tally.answered},
      {"ok", tally.ok},
      {"non_2xx", tally.non_2xx()},
      {"per_second", rate_of(tally)},
      {"latency_us", latency_json(tally.latency_ns)},
      {"opened", tally.opened},
      {"connected", tally.connected},
      {"by_worker", tally.by_worker},
      {"by_acceptor", tally.by_acceptor},
      {"worst_worker", worst},
      {"moved", tally.moved},
      {"misplaced", tally.misplaced},
      {"probes", tally.probes},
      {"statuses", statuses},
      {"endings", endings},
      {"clean", tally.clean()},
      {"replay", options.replay_line()},
  };
  return report.dump(2) + "\n";
}

}  // namespace flare::tools
