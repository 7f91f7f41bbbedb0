// bench_handoff_pool: what the pool adds to a queue: an empty tick, and the choice of a target.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "flare/handoff/worker_handoff_pool.h"

namespace {

void drain_of_an_empty_queue(benchmark::State& state) {
  flare::WorkerHandoffPool pool(flare::HandoffPolicy(true, 64, 4), 4);
  std::vector<std::int64_t> out;
  for (auto _ : state) pool.drain_local(0, out);
}
BENCHMARK(drain_of_an_empty_queue);

void choose_and_push(benchmark::State& state) {
  flare::WorkerHandoffPool pool(flare::HandoffPolicy(true, 64, 4), static_cast<int>(state.range(0)));
  std::vector<std::int64_t> out;
  for (auto _ : state) {
    const int target = pool.choose_handoff_target(0, 100);
    pool.try_handoff(target, 7);
    pool.drain_local(target, out);
  }
}
BENCHMARK(choose_and_push)->Arg(4)->Arg(64);

}  // namespace
