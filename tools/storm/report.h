// report.h: a run's figures as a table for people and as JSON for programs.
#pragma once

#include <string>

#include "storm/options.h"
#include "storm/tally.h"

namespace flare::tools {

std::string storm_table(const StormOptions& options, const Tally& tally);
std::string storm_json(const StormOptions& options, const Tally& tally);

}  // namespace flare::tools
