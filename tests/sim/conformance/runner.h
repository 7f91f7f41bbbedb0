// runner.h: one script on both kernels, call by call, until they disagree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/call.h"
#include "conformance/machine_world.h"
#include "conformance/outcome.h"
#include "conformance/real_world.h"

namespace flare::sim::conformance {

struct Disagreement {
  std::size_t call = 0;
  std::string what;
};

class Runner final : private Chooser {
 public:
  Runner() : simulated_(*this) {}

  std::optional<Disagreement> run(const Script& script);
  // Drops calls while the two still disagree.
  Script shrink(Script script);

  const std::map<std::string, std::uint64_t>& real_coverage() const { return real_coverage_; }
  const std::map<std::string, std::uint64_t>& simulated_coverage() const { return simulated_coverage_; }
  std::uint64_t calls() const { return calls_; }

 private:
  // Where Linux is free its own choice is the answer.
  unsigned choose(unsigned options, const char* what) override;

  void look_at_queues();
  std::string compare(const Script& script, const Outcome& real, const Outcome& simulated);
  std::string compare_events(const Script& script, const Outcome& real, const Outcome& simulated);
  std::string compare_names(const Outcome& real, const Outcome& simulated);
  std::string compare_readiness();

  RealWorld real_;
  MachineWorld simulated_;
  Place place_;
  std::uint32_t places_used_ = 0;
  int watched_ = 0;      // numbers whose readiness is compared after each call
  bool groups_ = false;  // the script shares ports
  std::vector<unsigned> bits_;
  std::vector<int> queues_;                       // of the real listeners before the call
  std::map<std::uint16_t, std::uint16_t> ports_;  // that the simulation chose, and the real kernel's for it
  std::map<std::string, std::uint64_t> real_coverage_;
  std::map<std::string, std::uint64_t> simulated_coverage_;
  std::uint64_t calls_ = 0;
};

}  // namespace flare::sim::conformance
