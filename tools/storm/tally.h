// tally.h: what one run of the storm saw.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "storm/connection.h"
#include "storm/histogram.h"

namespace flare::tools {

struct Tally {
  std::uint64_t opened = 0, connected = 0;       // connections
  std::uint64_t sent = 0, answered = 0, ok = 0;  // requests; ok: answered with 2xx
  std::array<std::uint64_t, static_cast<std::size_t>(Ending::kCount_)> endings{};
  std::map<int, std::uint64_t> statuses;
  std::map<int, std::uint64_t> connect_errors;  // errno of kConnectFailed
  std::vector<std::uint64_t> by_worker;         // connections by the worker that served their first answer
  std::vector<std::uint64_t> by_acceptor;       // the same by the worker that accepted
  std::uint64_t moved = 0;                      // accepted by one worker, served by another
  std::uint64_t misplaced = 0;                  // pinned, but accepted by another worker than wanted
  int probes = 0;
  double seconds = 0;
  Histogram latency_ns;

  std::uint64_t count(Ending ending) const { return endings[static_cast<std::size_t>(ending)]; }
  std::uint64_t non_2xx() const { return answered - ok; }
  // No answer was cut short and no request met a reset: what --expect-clean asks for.
  bool clean() const {
    return count(Ending::kTruncated) == 0 && count(Ending::kResetFirst) == 0 && count(Ending::kResetOutstanding) == 0;
  }
  // The first answer of a connection tells where it went. wanted: -1, or the worker its port was chosen for.
  void place(int accepted_by, int worker, int wanted) {
    if (accepted_by < 0 || worker < 0) return;
    add(by_worker, worker);
    add(by_acceptor, accepted_by);
    if (accepted_by != worker) ++moved;
    if (wanted >= 0 && accepted_by != wanted) ++misplaced;
  }

 private:
  static constexpr int kMaxWorkers = 256;
  static void add(std::vector<std::uint64_t>& counts, int worker) {
    if (worker >= kMaxWorkers) return;
    const auto at = static_cast<std::size_t>(worker);
    if (counts.size() <= at) counts.resize(at + 1, 0);
    ++counts[at];
  }
};

}  // namespace flare::tools
