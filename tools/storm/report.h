// report.h: a run's figures as a table for people and as JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "storm/options.h"
#include "storm/tally.h"

namespace flare::tools {

// Percentiles in microseconds: p50, p90, p99, p999, max, mean.
nlohmann::ordered_json latency_json(const Histogram& latency_ns);

std::string storm_table(const StormOptions& options, const Tally& tally);
std::string storm_json(const StormOptions& options, const Tally& tally);

}  // namespace flare::tools
