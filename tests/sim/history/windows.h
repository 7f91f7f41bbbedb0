// windows.h: judges a long history exactly, piece by piece: it is cut at its quiescent points, where no operation runs,
// and each window is searched from every state in which the one before it may have left the queue.
// Bounds: a window of more than History::kMost operations, with the values inside at its start, is too hard, and so is
//         one whose search takes more than kMostNodes steps without an answer. It is passed over: what is inside after
//         it is known, the order is not, and the next window gets the pushes of those values as operations of its own.
//         The same after a window that may end in more than kMostStates states.
// Input:  unique values (else what is inside at a cut may depend on the order); operations in the order of their calls.
#pragma once

#include <cstddef>
#include <string>

#include "history/exact.h"
#include "history/long_history.h"

namespace flare::sim {

struct WindowVerdict {
  bool ok = true;
  std::size_t judged = 0;       // windows
  std::size_t too_hard = 0;     // windows that were passed over
  std::size_t operations = 0;   // in judged windows
  std::size_t most_states = 0;  // with which a window began
  std::string text;             // of the first window that is not linearizable
};

// Defects that the tests ask for.
struct WindowFaults {
  bool cut_too_late = false;   // the first operation after a quiescent point counts to the window before
  bool cut_too_early = false;  // a cut needs only that the operation just before has ended
  bool one_state = false;      // only one of the possible states is handed on
  bool starts_empty = false;   // what is inside is forgotten at each cut
};

inline constexpr std::size_t kMostStates = 4096;
inline constexpr std::size_t kMostNodes = 1 << 17;

WindowVerdict judge_windows(const LongHistory& history, std::size_t capacity, const WindowFaults& faults = {});

}  // namespace flare::sim
