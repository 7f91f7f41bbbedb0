#include "flare/handoff/handoff_policy.h"

#include <cerrno>
#include <optional>

#include "flare/base/network_error.h"
#include "flare/base/sync.h"

namespace flare::inline FLARE_ABI {

namespace {

constexpr const char* kSwitch = "FLARE_SOAK_WORKERS";

}  // namespace

HandoffPolicy::HandoffPolicy(bool enabled_in, int capacity_in, int steal_threshold_in)
    : enabled(enabled_in), capacity(capacity_in), steal_threshold(steal_threshold_in) {
  if (capacity < 0) {
    throw NetworkError(EINVAL, "HandoffPolicy", "capacity is " + std::to_string(capacity) + ", expected 0 or more");
  }
}

HandoffPolicy HandoffPolicy::from_env(HandoffPolicy initial, std::string* report) {
  const std::optional<std::string> value = read_environment(kSwitch);
  if (!value) return initial;
  if (*value == "on" || *value == "1" || *value == "true") {
    initial.enabled = true;
    initial.steal_threshold = 1;
    return initial;
  }
  // "off" is no command to switch off: production opts in, the variable only ever adds.
  const bool silent = value->empty() || *value == "off" || *value == "0" || *value == "false";
  if (!silent && report != nullptr) {
    *report = std::string(kSwitch) + " is \"" + *value +
              "\", which changes nothing: expected on, 1 or true to enable the handoff, or off, 0, false or nothing";
  }
  return initial;
}

}  // namespace flare::inline FLARE_ABI
