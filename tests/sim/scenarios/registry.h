// registry.h: every scenario by its name, for replays.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/explorer.h"

namespace flare::sim {

std::vector<Scenario> all_scenarios();
std::optional<Scenario> find_scenario(std::string_view name);

}  // namespace flare::sim
