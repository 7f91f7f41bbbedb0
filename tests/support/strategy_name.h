// strategy_name.h: what a test that runs with each listener strategy is called.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "flare/scheduler/scheduler.h"

namespace flare::testing {

inline std::string name_of(const ::testing::TestParamInfo<ListenerStrategy>& info) {
  return info.param == ListenerStrategy::kShared ? "Shared" : "PerWorker";
}

}  // namespace flare::testing
