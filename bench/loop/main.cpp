// bench_loop_NAME: one event loop; JSON lines of nanoseconds per event, or per descriptor. See run.py.
// Each loop is a program of its own: libev has symbols of libevent's names.
#include <sys/resource.h>

#include "harness/measured.h"
#include "shapes.h"

int main() {
  using namespace flare::bench;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  run_on(0);
  const Stock stock;
  for (const Figure& figure : measure(stock)) {
    std::printf("{\"shape\": \"%s\", \"ns\": %.2f}\n", figure.shape.c_str(), figure.ns);
  }
  return 0;
}
