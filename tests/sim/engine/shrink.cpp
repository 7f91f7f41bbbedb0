// Smaller strings that fail alike, and the report of a failure.
#include <algorithm>
#include <cstdio>

#include "engine/explorer.h"

namespace flare::sim {

namespace {

constexpr int kSchedulesPerBound = 10'000;

// What the choices spend, with another bound of preemptions.
Budget as_spent(const ChoiceString& choices, int preemptions) {
  const auto spent = [&choices](ChoiceKind kind) {
    return static_cast<int>(
        std::count_if(choices.begin(), choices.end(), [kind](const Choice& one) { return one.kind == kind; }));
  };
  Budget budget;
  budget.preemptions = preemptions;
  budget.waiters = spent(ChoiceKind::kWaiter);
  budget.switches = spent(ChoiceKind::kSwitch) + 1;
  budget.stale = spent(ChoiceKind::kStale);
  budget.faults = spent(ChoiceKind::kFault);
  budget.calm = spent(ChoiceKind::kCalm);
  return budget;
}

}  // namespace

// Dropping choices does not move those that stay: a look at the schedules with fewer preemptions finds what it misses.
std::optional<ChoiceString> Explorer::with_fewer_preemptions(const Verdict& failure, const ChoiceString& choices) {
  for (int bound = 0; bound < preemptions_of(choices); ++bound) {
    Enumeration source(as_spent(choices, bound), true);
    for (int i = 0; i < kSchedulesPerBound && source.begin_schedule(); ++i) {
      Verdict verdict = execute(source, scenario_.options);
      if (verdict.oracle == failure.oracle) return std::move(verdict.choices);
    }
  }
  return std::nullopt;
}

ChoiceString Explorer::shrink(const Verdict& failure) {
  ChoiceString small = shrink_by_parts(failure, failure.choices);
  const std::optional<ChoiceString> fewer = with_fewer_preemptions(failure, small);
  return fewer ? shrink_by_parts(failure, *fewer) : small;
}

ChoiceString Explorer::shrink_by_parts(const Verdict& failure, ChoiceString best) {
  const auto try_it = [&](ChoiceString candidate) {
    Verdict verdict = replay(candidate, false, false);
    // What the run really chose: a dropped choice moves the sites of those behind it.
    if (verdict.oracle != failure.oracle || verdict.choices.size() > best.size()) return false;
    best = std::move(verdict.choices);
    return true;
  };
  // The tail first, then blocks of halving size, then each choice alone, as long as something goes.
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t keep = 0; keep < best.size(); ++keep) {
      if (try_it(ChoiceString(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(keep)))) {
        progress = true;
        break;
      }
    }
    for (std::size_t block = best.size() / 2; block > 0; block /= 2) {
      for (std::size_t from = 0; from + block <= best.size();) {
        ChoiceString candidate = best;
        candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(from),
                        candidate.begin() + static_cast<std::ptrdiff_t>(from + block));
        const std::size_t before = best.size();
        if (try_it(std::move(candidate)) && best.size() < before) {
          progress = true;
        } else {
          from += block;
        }
      }
    }
    for (std::size_t i = 0; i < best.size(); ++i) {
      while (i < best.size() && best[i].taken > 1) {
        ChoiceString candidate = best;
        --candidate[i].taken;
        if (!try_it(std::move(candidate))) break;
        progress = true;
      }
    }
  }
  return best;
}

std::string Explorer::trace_text(const Verdict& traced) {
  std::string text;
  for (const TraceLine& line : traced.trace) {
    char head[160];
    const auto thread = static_cast<std::size_t>(line.thread);
    const char* name = thread < traced.thread_names.size() ? traced.thread_names[thread].c_str() : "?";
    std::snprintf(head, sizeof head, "  %10.3f ms  %d %-12s %-22s", static_cast<double>(line.time) / 1e6, line.thread,
                  name, line.call.text());
    text += head;
    if (line.text.empty()) {
      text += " " + std::to_string(line.argument) + " -> " + std::to_string(line.result) + "\n";
    } else {
      text += " " + line.text + "\n";
    }
  }
  return text;
}

std::string Explorer::report(const Verdict& failure) {
  std::string text = "scenario " + scenario_.name + " fails: " + failure.oracle + ": " + failure.text + "\n";
  if (!failure.nondeterminism.empty()) text += "nondeterministic: " + failure.nondeterminism + "\n";
  text += "found:  REPLAY=" + scenario_.name + ":" + to_text(failure.choices) + "\n";
  const ChoiceString small = shrink(failure);
  const Verdict traced = replay(small, true);
  text += "shrunk: REPLAY=" + scenario_.name + ":" + to_text(small) + "  (" + std::to_string(preemptions_of(small)) +
          " preemptions, " + std::to_string(faults_of(small)) + " faults)\n";
  for (const Choice& one : small) {
    text += "  at site " + std::to_string(one.site) + ": " + one.what.text() + ", option " + std::to_string(one.taken) +
            " of " + std::to_string(one.options) + "\n";
  }
  text += trace_text(traced);
  text += "  " + traced.oracle + ": " + traced.text + "\n";
  text += "replay: build/sim/tests/sim/sim_replay '" + scenario_.name + ":" + to_text(small) + "'\n";
  return text;
}

}  // namespace flare::sim
