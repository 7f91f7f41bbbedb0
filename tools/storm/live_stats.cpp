#include "storm/live_stats.h"

#include "storm/report.h"

namespace flare::tools {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint64_t kUs = 1'000;

}  // namespace

std::string storm_live_line(std::int64_t t_ms, std::int64_t span_ms, const Tally& tally, const Histogram& recent) {
  nlohmann::ordered_json below = nlohmann::ordered_json::array();
  std::uint64_t before = 0;
  for (std::uint64_t bound = 1; before < recent.count(); bound *= 2) {
    const std::uint64_t up_to = recent.count_below(bound * kUs);
    if (up_to > before) below.push_back({bound, up_to - before});
    before = up_to;
  }
  const nlohmann::ordered_json line = {
      {"t_ms", t_ms},
      {"span_ms", span_ms},
      {"connected", tally.connected},
      {"sent", tally.sent},
      {"answered", tally.answered},
      {"count", recent.count()},
      {"latency_us", latency_json(recent)},
      {"below_us", below},
  };
  return line.dump();
}

void LiveStats::tick(std::int64_t since_start_ns, const Tally& tally, bool at_end) {
  const std::int64_t span = since_start_ns - last_;
  if (file_ == nullptr || (span < interval_ns_ && !at_end)) return;
  last_ = since_start_ns;
  std::fprintf(file_, "%s\n", storm_live_line(since_start_ns / kMs, span / kMs, tally, recent_).c_str());
  std::fflush(file_);
  recent_ = Histogram();
}

}  // namespace flare::tools
