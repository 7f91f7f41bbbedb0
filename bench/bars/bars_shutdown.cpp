// bars_shutdown: how long shutdown() takes with no connections. Prints the runs' median, smallest and largest.
//
//   bars_shutdown [workers=16] [runs=51] [bar_ms=20]     exit 0: the median is at or below the bar
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "flare/scheduler/scheduler.h"
#include "support/line_protocol.h"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const int workers = argc > 1 ? std::atoi(argv[1]) : 16;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 51;
  const double bar_ms = argc > 3 ? std::atof(argv[3]) : 20.0;
  if (workers < 1 || workers > 256 || runs < 1) {
    std::fprintf(stderr, "usage: bars_shutdown [workers 1..256] [runs >= 1] [bar in ms]\n");
    return 2;
  }
  std::vector<double> took;
  for (int run = 0; run < runs; ++run) {
    auto scheduler = flare::Scheduler<flare::testing::LineFrontend>::start(
        flare::SocketAddress::loopback_v4(),
        flare::testing::LineFrontend([](const std::string& line, int) { return line; }), workers);
    // All workers are asleep in their polls before the clock starts.
    for (bool asleep = false; !asleep;) {
      asleep = true;
      for (const flare::WorkerSnapshot& one : scheduler.stats()) asleep = asleep && one.sleeping;
    }
    const auto start = Clock::now();
    scheduler.shutdown();
    took.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(took.begin(), took.end());
  const double median = took[took.size() / 2];
  std::printf("shutdown of %d idle workers, %d runs: median %.2f ms, smallest %.2f, largest %.2f; bar %.1f: %s\n",
              workers, runs, median, took.front(), took.back(), bar_ms, median <= bar_ms ? "pass" : "FAIL");
  return median <= bar_ms ? 0 : 1;
}
