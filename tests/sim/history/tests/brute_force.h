// brute_force.h: the yardstick: tries every order that real time allows. Shares no code with the checkers.
#pragma once

#include <cstddef>

#include "history/history.h"

namespace flare::sim {

bool brute_force(const History& history, std::size_t capacity);

}  // namespace flare::sim
