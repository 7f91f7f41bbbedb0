// faults.h: the fault matrix: every call, every error that it can give, at the first, the second and every third call.
#pragma once

#include <string>
#include <vector>

#include "engine/choice.h"
#include "scenarios/server_world.h"

namespace flare::sim {

// A server with every kind of call at least three times: start, clients, stop. What a fault may cost is in its body.
Scenario fault_scenario(ListenerStrategy strategy);
// The same, with the n-th allocation of the product failing.
Scenario memory_scenario(ListenerStrategy strategy, std::uint64_t nth);

// One kind of call that may fail.
struct FaultCall {
  Name call;
  std::uint32_t options = 0;  // the errors, and none
  int seen = 0;               // calls in a schedule without faults
};

// Sees which calls could fail; lets none fail.
class FaultSurvey : public ChoiceSource {
 public:
  bool begin_schedule() override { return !std::exchange(begun_, true); }
  std::uint32_t take(const Choice& choice) override;
  const std::vector<FaultCall>& calls() const { return calls_; }

 private:
  std::vector<FaultCall> calls_;
  bool begun_ = false;
};

enum class FaultPattern { kFirst, kSecond, kEveryThird };

// One cell of the matrix: this call gives this error in this pattern; all else is calm.
class FaultPlan : public ChoiceSource {
 public:
  FaultPlan(Name call, std::uint32_t option, FaultPattern pattern) : call_(call), option_(option), pattern_(pattern) {}
  bool begin_schedule() override { return !std::exchange(begun_, true); }
  std::uint32_t take(const Choice& choice) override;
  int injected() const { return injected_; }

 private:
  Name call_;
  std::uint32_t option_;
  FaultPattern pattern_;
  int seen_ = 0;
  int injected_ = 0;
  bool begun_ = false;
};

}  // namespace flare::sim
