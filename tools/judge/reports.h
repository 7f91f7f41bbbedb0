// reports.h: JSON reports of the tools, read for a script or a judgement.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace flare::tools {

using Json = nlohmann::ordered_json;

// Throws std::runtime_error that names the file and what is wrong with it.
Json read_report(const std::string& path);
// A value by its path, as totals.accepted or workers.0.cut. An array of numbers is given with commas between them.
// Throws std::runtime_error that names the path when there is none.
std::string value_at(const Json& report, const std::string& path);

}  // namespace flare::tools
