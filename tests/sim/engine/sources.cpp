#include "engine/sources.h"

#include <algorithm>
#include <cmath>

namespace flare::sim {

int Budget::of(ChoiceKind kind) const {
  switch (kind) {
    case ChoiceKind::kPreempt:
      return preemptions;
    case ChoiceKind::kSwitch:
      return switches;
    case ChoiceKind::kWaiter:
      return waiters;
    case ChoiceKind::kStale:
      return stale;
    case ChoiceKind::kFault:
      return faults;
    case ChoiceKind::kCalm:
      return calm;
  }
  return 0;
}

namespace {

std::size_t index_of(ChoiceKind kind) {
  return static_cast<std::size_t>(kind);
}

}  // namespace

bool Enumeration::begin_schedule() {
  at_ = 0;
  spent_ = {};
  if (std::exchange(first_, false)) return true;
  while (!path_.empty() && path_.back().choice.taken + 1 >= path_.back().most) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().choice.taken;
  return true;
}

bool Enumeration::may_deviate(ChoiceKind kind) {
  return at_ < path_.size() || spent_[index_of(kind)] < budget_.of(kind);
}

std::uint32_t Enumeration::take(const Choice& choice) {
  if (at_ < path_.size() && path_[at_].choice.site <= choice.site) {
    const Choice& before = path_[at_].choice;
    if (before.site != choice.site || before.options != choice.options || before.what.hash() != choice.what.hash()) {
      nondeterminism = "site " + std::to_string(choice.site) + " asks for " + choice.what.text() + " of " +
                       std::to_string(choice.options) + "; before, site " + std::to_string(before.site) +
                       " asked for " + before.what.text() + " of " + std::to_string(before.options);
      return 0;
    }
    ++at_;
    if (before.taken != 0) ++spent_[index_of(choice.kind)];
    return before.taken;
  }
  // Within the prefix only the recorded levels were choices: what was beyond the budget there is beyond it now.
  if (at_ < path_.size() || spent_[index_of(choice.kind)] >= budget_.of(choice.kind)) return 0;
  path_.push_back({choice, choice.options});
  ++at_;
  return 0;
}

bool Enumeration::visit(std::uint64_t state) {
  if (at_ < path_.size()) return true;  // on the way to the new choice
  // What was spent but the preemptions is part of the state: less of it left explores less.
  for (std::size_t kind = 1; kind < spent_.size(); ++kind) {
    const bool counts = budget_.of(static_cast<ChoiceKind>(kind)) < (1 << 30);
    if (counts) state = state * 31 + static_cast<std::uint64_t>(spent_[kind]);
  }
  return states_.enter(state, budget_.preemptions - spent_[0]);
}

Pct::Pct(std::uint64_t seed, int depth, std::uint64_t schedules, double deviation)
    : random_(seed), depth_(depth), left_(schedules), deviation_(deviation) {}

bool Pct::begin_schedule() {
  if (left_ == 0) return false;
  --left_;
  ++done_;
  for (double& one : priority_) one = 1.0 + random_.unit();
  changes_.clear();
  for (int i = 1; i < depth_; ++i) changes_.push_back(1 + random_.below(std::max(longest_, 16U)));
  steps_ = 0;
  falls_ = false;
  lowest_ = 1.0;
  return true;
}

bool Pct::may_deviate(ChoiceKind kind) {
  if (kind != ChoiceKind::kPreempt) return random_.unit() < deviation_;
  ++steps_;
  // It stays due until somebody else can run.
  if (std::find(changes_.begin(), changes_.end(), steps_) != changes_.end()) falls_ = true;
  return true;
}

std::uint32_t Pct::take(const Choice& choice) {
  return choice.kind == ChoiceKind::kSwitch ? 0 : random_.below(choice.options);
}

std::uint32_t Pct::take_thread(const Choice& choice, const int* threads) {
  // At a change point, and when it yields, the running thread falls behind all others.
  if (std::exchange(falls_, false)) priority_[static_cast<std::size_t>(threads[0])] = lowest_ -= 0.001;
  if (choice.what.hash() == Name("yield").hash()) {
    priority_[static_cast<std::size_t>(threads[choice.options])] = lowest_ -= 0.001;
  }
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < choice.options; ++i) {
    if (priority_[static_cast<std::size_t>(threads[i])] > priority_[static_cast<std::size_t>(threads[best])]) best = i;
  }
  return best;
}

void Pct::end_schedule(std::uint32_t /*sites*/) {
  longest_ = std::max(longest_, steps_);
}

double Pct::miss_probability(int threads) const {
  const double hit = 1.0 / (threads * std::pow(static_cast<double>(std::max(longest_, 1U)), depth_ - 1));
  return std::exp(static_cast<double>(done_) * std::log1p(-hit));
}

Uniform::Uniform(std::uint64_t seed, std::uint64_t schedules, double preempt, double deviation, double fault)
    : seed_(seed), left_(schedules), preempt_(preempt), deviation_(deviation), fault_(fault) {}

// Each schedule has a seed of its own: the n-th of a run is the same whatever the ones before it asked for.
bool Uniform::begin_schedule() {
  if (left_ == 0) return false;
  --left_;
  random_.seed(seed_++);
  return true;
}

bool Uniform::may_deviate(ChoiceKind kind) {
  double chance = deviation_;
  if (kind == ChoiceKind::kPreempt) chance = preempt_;
  if (kind == ChoiceKind::kSwitch || kind == ChoiceKind::kWaiter) return true;
  if (kind == ChoiceKind::kFault) chance = fault_;
  return random_.unit() < chance;
}

std::uint32_t Uniform::take(const Choice& choice) {
  return random_.below(choice.options);
}

std::uint32_t Bytes::take(const Choice& choice) {
  if (at_ >= size_) return 0;
  return data_[at_++] % choice.options;
}

std::uint32_t Replay::take(const Choice& choice) {
  while (at_ < choices_.size() && choices_[at_].site < choice.site) {
    if (strict_) {
      nondeterminism = "nothing to choose at site " + std::to_string(choices_[at_].site) + ", where the string chooses";
    }
    ++at_;
  }
  if (at_ >= choices_.size() || choices_[at_].site != choice.site) return 0;
  const Choice& wanted = choices_[at_++];
  if (wanted.options != choice.options && strict_) {
    nondeterminism = "site " + std::to_string(choice.site) + " has " + std::to_string(choice.options) + " options (" +
                     choice.what.text() + "), the string says " + std::to_string(wanted.options);
  }
  return wanted.taken < choice.options ? wanted.taken : 0;
}

void Replay::end_schedule(std::uint32_t sites) {
  if (!strict_ || at_ >= choices_.size() || !nondeterminism.empty()) return;
  nondeterminism = "the schedule ended at site " + std::to_string(sites) + ", the string goes on to site " +
                   std::to_string(choices_[at_].site);
}

}  // namespace flare::sim
