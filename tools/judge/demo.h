// demo.h: the demo's verdict: what both servers and both storms reported, and whether all of it holds.
#pragma once

#include <string>
#include <vector>

#include "judge/reports.h"

namespace flare::tools {

// One of the two servers of the demo, with the load it got.
struct DemoSide {
  Json serve, storm;
  int serve_exit = 0, storm_exit = 0;
};

struct DemoCheck {
  std::string text;
  bool holds;
};

// The most connections that the worst worker may hold with the handoff: an even share and one more.
int most_with_handoff(int clients, int workers);
// Throws std::runtime_error when a report lacks a field.
std::vector<DemoCheck> judge_demo(const DemoSide& off, const DemoSide& on, int clients, int workers);
std::string demo_table(const std::string& title, const DemoSide& side);

}  // namespace flare::tools
