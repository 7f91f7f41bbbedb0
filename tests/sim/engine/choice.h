// choice.h: whatever a schedule does not determine is one choice; a schedule is the list of its choices that are not 0.
//
// Every call of choose() has a site: its number in the schedule, counted whether there was something to choose or not.
// So a schedule is written sparsely, "41:1/3,77:2/2": at site 41 option 1 of 3, at site 77 option 2 of 2, elsewhere 0,
// the calmest option. The form does not depend on who supplied the choices nor on any bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/name.h"

namespace flare::sim {

enum class ChoiceKind : std::uint8_t {
  kPreempt,  // which thread runs next, while the current one could: any option but 0 is a preemption
  kSwitch,   // which thread runs next, when the current one cannot or yields
  kWaiter,   // which of several waiters, members or queues the kernel picks
  kStale,    // which of several stores a load sees
  kFault,    // whether a call fails, and how
  kCalm,     // short counts, order and size of a batch, time running ahead, a client's next act
};

struct Choice {
  std::uint32_t site = 0;
  std::uint32_t options = 1;
  std::uint32_t taken = 0;
  ChoiceKind kind = ChoiceKind::kCalm;
  Name what;
};

// The choices that are not 0, by site.
using ChoiceString = std::vector<Choice>;

std::string to_text(const ChoiceString& choices);
// Nothing when text is not of the form above.
std::optional<ChoiceString> parse_choices(std::string_view text);
int preemptions_of(const ChoiceString& choices);
int faults_of(const ChoiceString& choices);

// Who decides. One schedule after the other.
class ChoiceSource {
 public:
  virtual ~ChoiceSource() = default;
  // False: there is no further schedule.
  virtual bool begin_schedule() = 0;
  // What to take of the options (2 or more) at this site.
  virtual std::uint32_t take(const Choice& choice) = 0;
  // Whether another option than 0 may come at the choice that is asked for next: else the engine does not even look for
  // options. It asks once before each choice but a switch, whose option 0 is no calmer than the others.
  virtual bool may_deviate(ChoiceKind /*kind*/) { return true; }
  // A thread's right to run (PCT): the engine asks a source that has priorities for each choice of a thread. The
  // options are threads; when it is a yield, the one that yields stands behind them.
  virtual bool has_priorities() const { return false; }
  virtual std::uint32_t take_thread(const Choice& choice, const int* /*threads*/) { return take(choice); }
  // Whether other, if it can run, goes before the running thread: when nobody does, it is not asked for a thread.
  virtual bool outranks(int /*other*/, int /*running*/) const { return true; }
  // A replay chooses at this site: it is a scheduling point, whether that was learned or not.
  virtual bool chooses_at(std::uint32_t /*site*/) const { return false; }
  virtual void end_schedule(std::uint32_t /*sites*/) {}
  // Asked at a choice that is new: false if everything from this state on was explored before.
  virtual bool remembers_states() const { return false; }
  virtual bool visit(std::uint64_t /*state*/) { return true; }
  // Not empty: the schedule asked for something else than it did before under the same choices.
  std::string nondeterminism;
};

}  // namespace flare::sim
