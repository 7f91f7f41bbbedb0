#include "judge/demo.h"

#include <algorithm>
#include <cstdio>

namespace flare::tools {
namespace {

std::int64_t number(const Json& report, const std::string& path) {
  return std::stoll(value_at(report, path));
}
double decimal(const Json& report, const std::string& path) {
  return std::stod(value_at(report, path));
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

// The sums again, from the figures: the judge does not take the server's word for it.
bool identity_holds(const Json& serve) {
  std::int64_t handed_out = 0, received = 0;
  for (const Json& worker : serve.at("workers")) {
    const auto value = [&worker](const char* name) { return number(worker, name); };
    if (value("accepted") + value("received") !=
        value("finished") + value("handed_out") + value("cut") + value("left")) {
      return false;
    }
    handed_out += value("handed_out");
    received += value("received");
  }
  return !serve.at("workers").empty() && handed_out == received && value_at(serve, "adds_up") == "true";
}

void judge_side(const std::string& name, const DemoSide& side, int clients, int workers,
                std::vector<DemoCheck>& checks) {
  const auto check = [&](const std::string& text, bool holds) { checks.push_back({name + ": " + text, holds}); };
  check("accepted + received = finished + handed out + cut + left, for each of " + std::to_string(workers) +
            " workers; handed out = received",
        identity_holds(side.serve) && side.serve.at("workers").size() == static_cast<std::size_t>(workers));
  check("server left with exit code " + std::to_string(side.serve_exit), side.serve_exit == 0);
  const std::string before = value_at(side.serve, "fds_before"), after = value_at(side.serve, "fds_after");
  check("descriptors " + before + " before the start, " + after + " after the drain", before == after);
  const Json& storm = side.storm;
  const std::string sent = value_at(storm, "sent"), answered = value_at(storm, "answered");
  check(answered + " answers of " + sent + " requests, " + value_at(storm, "endings.truncated") + " truncated, " +
            value_at(storm, "endings.reset_outstanding") + " reset",
        side.storm_exit == 0 && number(storm, "answered") > 0 && value_at(storm, "clean") == "true" &&
            number(storm, "non_2xx") == 0);
  check(value_at(storm, "connected") + " of " + std::to_string(clients) +
            " clients were served, all by ports of worker 0",
        number(storm, "connected") == clients && number(storm, "misplaced") == 0);
}

}  // namespace

int most_with_handoff(int clients, int workers) {
  return std::min(clients, (clients + workers - 1) / workers + 1);
}

std::vector<DemoCheck> judge_demo(const DemoSide& off, const DemoSide& on, int clients, int workers) {
  std::vector<DemoCheck> checks;
  const std::int64_t worst_off = number(off.storm, "worst_worker"), worst_on = number(on.storm, "worst_worker");
  checks.push_back({"off: the worst worker holds " + std::to_string(worst_off) + " of " + std::to_string(clients) +
                        " connections (must be all)",
                    worst_off == clients});
  const int most = most_with_handoff(clients, workers);
  checks.push_back({"on:  the worst worker holds " + std::to_string(worst_on) + " of " + std::to_string(clients) +
                        " connections (at most " + std::to_string(most) + ")",
                    worst_on >= 1 && worst_on <= most});
  const double p99_off = decimal(off.storm, "latency_us.p99"), p99_on = decimal(on.storm, "latency_us.p99");
  const double ratio = p99_off > 0 ? p99_on / p99_off : 0;
  checks.push_back({"p99 on / off = " + fixed(p99_on / 1000, 2) + " ms / " + fixed(p99_off / 1000, 2) +
                        " ms = " + fixed(ratio, 2) + " (at most 0.50)",
                    p99_off > 0 && ratio <= 0.5});
  judge_side("off", off, clients, workers, checks);
  judge_side("on ", on, clients, workers, checks);
  return checks;
}

std::string demo_table(const std::string& title, const DemoSide& side) {
  std::string out = title + "\n  worker  accepted  received  handed out    served  finished  cut\n";
  const auto row = [&out](const std::string& name, const Json& from) {
    char text[160];
    std::snprintf(text, sizeof(text), "  %-6s %9s %9s %11s %9s %9s %4s\n", name.c_str(),
                  value_at(from, "accepted").c_str(), value_at(from, "received").c_str(),
                  value_at(from, "handed_out").c_str(), value_at(from, "requests").c_str(),
                  value_at(from, "finished").c_str(), value_at(from, "cut").c_str());
    out += text;
  };
  for (const Json& worker : side.serve.at("workers")) row(value_at(worker, "worker"), worker);
  row("total", side.serve.at("totals"));
  char text[200];
  std::snprintf(text, sizeof(text),
                "  latency ms: p50 %.2f  p90 %.2f  p99 %.2f  p99.9 %.2f  max %.2f; %.0f per second\n",
                decimal(side.storm, "latency_us.p50") / 1000, decimal(side.storm, "latency_us.p90") / 1000,
                decimal(side.storm, "latency_us.p99") / 1000, decimal(side.storm, "latency_us.p999") / 1000,
                decimal(side.storm, "latency_us.max") / 1000, decimal(side.storm, "per_second"));
  return out + text;
}

}  // namespace flare::tools
