#include "serve/report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace flare::tools {
namespace {

using Json = nlohmann::ordered_json;

const char* reason_name(std::size_t reason) {
  switch (static_cast<CloseReason>(reason)) {
    case CloseReason::kAnswered:
      return "answered";
    case CloseReason::kPeerGone:
      return "peer_gone";
    case CloseReason::kDeadline:
      return "deadline";
    case CloseReason::kProtocolError:
      return "protocol_error";
    case CloseReason::kHandlerThrew:
      return "handler_threw";
    case CloseReason::kIdleDrained:
      return "idle_drained";
    case CloseReason::kSetupFailed:
      return "setup_failed";
    case CloseReason::kCount_:
      break;
  }
  return "other";
}

struct Column {
  const char* name;
  std::int64_t ShutdownReport::* field;
};
constexpr Column kColumns[] = {
    {"accepted", &ShutdownReport::accepted},
    {"received", &ShutdownReport::received},
    {"handed_out", &ShutdownReport::handed_out},
    {"refused", &ShutdownReport::refused},
    {"requests", &ShutdownReport::requests},
    {"finished", &ShutdownReport::finished},
    {"cut", &ShutdownReport::cut},
    {"left", &ShutdownReport::left},
    {"drained", &ShutdownReport::drained},
    {"timed_out", &ShutdownReport::timed_out},
    {"in_flight_at_deadline", &ShutdownReport::in_flight_at_deadline},
};

// Sums of all workers, in the shape of one.
ShutdownReport total_of(const std::vector<ShutdownReport>& workers) {
  ShutdownReport total;
  for (const ShutdownReport& worker : workers) {
    for (const Column& column : kColumns) total.*column.field += worker.*column.field;
    for (std::size_t i = 0; i < kCloseReasons; ++i) total.by_reason[i] += worker.by_reason[i];
    total.crashed += worker.crashed;
    total.stuck += worker.stuck;
  }
  return total;
}

Json json_of(const ShutdownReport& report) {
  Json json;
  for (const Column& column : kColumns) json[column.name] = report.*column.field;
  Json reasons;
  for (std::size_t i = 0; i < kCloseReasons; ++i) reasons[reason_name(i)] = report.by_reason[i];
  json["by_reason"] = reasons;
  json["crashed"] = report.crashed;
  json["stuck"] = report.stuck;
  return json;
}

void append_row(std::string& out, const std::string& name, const ShutdownReport& report) {
  char text[256];
  std::snprintf(text, sizeof(text), "%-6s %9lld %9lld %10lld %8lld %10lld %9lld %6lld %5lld %8lld %7d %5d\n",
                name.c_str(), static_cast<long long>(report.accepted), static_cast<long long>(report.received),
                static_cast<long long>(report.handed_out), static_cast<long long>(report.refused),
                static_cast<long long>(report.requests), static_cast<long long>(report.finished),
                static_cast<long long>(report.cut), static_cast<long long>(report.left),
                static_cast<long long>(report.drained), report.crashed, report.stuck);
  out += text;
}

}  // namespace

int serve_exit_code(const std::vector<ShutdownReport>& workers) {
  if (!adds_up(workers)) return 1;
  const ShutdownReport total = total_of(workers);
  if (total.stuck + total.crashed > 0) return 4;
  return total.cut > 0 ? 3 : 0;
}

std::string serve_table(const ServeResult& result) {
  std::string out =
      "worker  accepted  received handed_out  refused   requests  finished    cut  left  drained crashed stuck\n";
  for (const ShutdownReport& worker : result.workers) append_row(out, std::to_string(worker.worker), worker);
  const ShutdownReport total = total_of(result.workers);
  append_row(out, "total", total);
  out += "finished by reason:";
  for (std::size_t i = 0; i < kCloseReasons; ++i) {
    if (total.by_reason[i] != 0) out += std::string(" ") + reason_name(i) + "=" + std::to_string(total.by_reason[i]);
  }
  char text[256];
  std::snprintf(text, sizeof(text),
                "\naccepted + received = finished + handed_out + cut + left: %s\n"
                "drained in %.1f ms; descriptors: %d before the start, %d now\n",
                adds_up(result.workers) ? "holds for every worker" : "DOES NOT HOLD", result.drain_ms,
                result.fds_before, result.fds_after);
  out += text;
  for (const ShutdownReport& worker : result.workers) {
    if (worker.crashed != 0) out += "worker " + std::to_string(worker.worker) + " crashed: " + worker.error + "\n";
  }
  return out;
}

std::string serve_json(const ServeResult& result) {
  Json workers = Json::array();
  for (const ShutdownReport& worker : result.workers) {
    Json one = {{"worker", worker.worker}};
    one.update(json_of(worker));
    one["identity"] = worker.identity();
    one["error"] = worker.error;
    workers.push_back(one);
  }
  const Json report = {{"workers", workers},
                       {"totals", json_of(total_of(result.workers))},
                       {"adds_up", adds_up(result.workers)},
                       {"exit_code", serve_exit_code(result.workers)},
                       {"listeners", result.strategy},
                       {"drain_ms", result.drain_ms},
                       {"fds_before", result.fds_before},
                       {"fds_after", result.fds_after}};
  // An error text may hold any bytes; what is no UTF-8 is replaced, never thrown.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flare::tools
