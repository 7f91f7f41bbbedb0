#include "judge/reports.h"

#include <fstream>
#include <stdexcept>

#include "common/cli.h"

namespace flare::tools {
namespace {

std::string plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& one : value) text += (text.empty() ? "" : ",") + plain(one);
  return text;
}

}  // namespace

Json read_report(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("'" + path + "' can't be read");
  try {
    return Json::parse(file);
  } catch (const Json::exception& error) {
    throw std::runtime_error("'" + path + "' is not a JSON report: " + error.what());
  }
}

std::string value_at(const Json& report, const std::string& path) {
  const Json* at = &report;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    const std::string key = path.substr(from, dot - from);
    std::int64_t index = 0;
    if (at->is_object() && at->contains(key)) {
      at = &at->at(key);
    } else if (at->is_array() && parse_whole(key, index) && index >= 0 &&
               index < static_cast<std::int64_t>(at->size())) {
      at = &at->at(static_cast<std::size_t>(index));
    } else {
      throw std::runtime_error("there is no '" + path + "' in the report");
    }
    from = dot + 1;
  }
  return plain(*at);
}

}  // namespace flare::tools
