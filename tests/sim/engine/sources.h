// sources.h: the suppliers of choices: enumeration, PCT, uniform, bytes, replay.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "engine/choice.h"
#include "engine/random.h"
#include "engine/state_table.h"
#include "engine/vector_clock.h"

namespace flare::sim {

// How many choices of each kind may differ from 0 in one schedule.
struct Budget {
  int preemptions = 2;
  int waiters = 1 << 30;
  int switches = 1 << 30;
  int stale = 0;
  int faults = 0;
  int calm = 0;
  int of(ChoiceKind kind) const;
};

// Depth first, every schedule within the budget exactly once; with remembered states, one of each class of schedules
// that order what depends on each other alike.
class Enumeration : public ChoiceSource {
 public:
  Enumeration(Budget budget, bool remember_states) : budget_(budget), remember_states_(remember_states) {}
  bool begin_schedule() override;
  std::uint32_t take(const Choice& choice) override;
  bool may_deviate(ChoiceKind kind) override;
  bool remembers_states() const override { return remember_states_; }
  bool visit(std::uint64_t state) override;
  std::size_t states() const { return states_.size(); }

 private:
  struct Level {
    Choice choice;
    std::uint32_t most;  // options within the budget
  };
  Budget budget_;
  std::vector<Level> path_;
  std::size_t at_ = 0;
  std::array<int, 6> spent_{};
  bool first_ = true;
  bool remember_states_;
  StateTable states_;
};

// Random priorities of the threads and depth - 1 points where the running one falls behind all others: a bug that needs
// depth ordering constraints among n threads and k steps is found with a chance of at least 1 / (n * k^(depth-1)).
class Pct : public ChoiceSource {
 public:
  Pct(std::uint64_t seed, int depth, std::uint64_t schedules, double deviation = 0.0);
  bool begin_schedule() override;
  bool may_deviate(ChoiceKind kind) override;
  std::uint32_t take(const Choice& choice) override;
  bool has_priorities() const override { return true; }
  std::uint32_t take_thread(const Choice& choice, const int* threads) override;
  bool outranks(int other, int running) const override {
    return falls_ || priority_[static_cast<std::size_t>(other)] > priority_[static_cast<std::size_t>(running)];
  }
  void end_schedule(std::uint32_t sites) override;
  // That a bug of this depth was not met by any of the schedules, at most.
  double miss_probability(int threads) const;

 private:
  Random random_;
  int depth_;
  std::uint64_t left_;
  std::uint64_t done_ = 0;
  double deviation_;
  std::uint32_t longest_ = 0;
  std::uint32_t steps_ = 0;
  std::array<double, kMaxThreads> priority_{};
  std::vector<std::uint32_t> changes_;
  bool falls_ = false;  // the running thread is at a change point
  double lowest_ = 0;
};

// Each choice at random: a thread uniformly, another option than 0 with the given chance per kind.
class Uniform : public ChoiceSource {
 public:
  Uniform(std::uint64_t seed, std::uint64_t schedules, double preempt, double deviation, double fault);
  bool begin_schedule() override;
  // The coin is tossed here: at most points it says no, and who else could run need not be known.
  bool may_deviate(ChoiceKind kind) override;
  std::uint32_t take(const Choice& choice) override;

 private:
  std::uint64_t seed_;
  Random random_;
  std::uint64_t left_;
  double preempt_;
  double deviation_;
  double fault_;
};

// The bytes of a fuzzer, one per choice; 0 when they are used up.
class Bytes : public ChoiceSource {
 public:
  Bytes(const unsigned char* data, std::size_t size) : data_(data), size_(size) {}
  bool begin_schedule() override { return !std::exchange(begun_, true); }
  std::uint32_t take(const Choice& choice) override;

 private:
  const unsigned char* data_;
  std::size_t size_;
  std::size_t at_ = 0;
  bool begun_ = false;
};

// One recorded schedule. Strict: another number of options than recorded, or a recorded choice that is never asked for,
// is nondeterminism.
class Replay : public ChoiceSource {
 public:
  explicit Replay(ChoiceString choices, bool strict = true) : choices_(std::move(choices)), strict_(strict) {}
  bool begin_schedule() override { return !std::exchange(begun_, true); }
  std::uint32_t take(const Choice& choice) override;
  bool chooses_at(std::uint32_t site) const override {
    std::size_t at = at_;
    while (at < choices_.size() && choices_[at].site < site) ++at;
    return at < choices_.size() && choices_[at].site == site;
  }
  void end_schedule(std::uint32_t sites) override;

 private:
  ChoiceString choices_;
  bool strict_;
  std::size_t at_ = 0;
  bool begun_ = false;
};

}  // namespace flare::sim
