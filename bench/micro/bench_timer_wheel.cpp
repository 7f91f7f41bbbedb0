// bench_timer_wheel: schedule, cancel and fire, with few and with many pending.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "flare/timer/timer_wheel.h"

namespace {

constexpr std::uint64_t kRangeMs = 60'000;

// Holds range(0) timers pending: each that fires is scheduled again.
void hold(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::uint64_t> delay(1, kRangeMs);
  flare::TimerWheel wheel;
  const auto pending = static_cast<std::uint64_t>(state.range(0));
  for (std::uint64_t token = 0; token < pending; ++token) wheel.schedule(delay(random), token);
  const std::uint64_t step = kRangeMs * 16 / pending + 1;  // some 16 timers fire at once
  std::uint64_t now = 0;
  std::size_t fired = 0;
  for (auto _ : state) {
    now += step;
    fired += wheel.advance(now, [&](std::uint64_t token) { wheel.schedule(delay(random), token); });
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(fired));
}
BENCHMARK(hold)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

// What a busy connection does: its deadline moves on before it is reached, and the loop asks for the next one.
void rearm(benchmark::State& state) {
  flare::TimerWheel wheel;
  const auto connections = static_cast<std::size_t>(state.range(0));
  std::vector<flare::TimerId> ids;
  for (std::size_t token = 0; token < connections; ++token) ids.push_back(wheel.schedule(kRangeMs, token));
  std::uint64_t now = 0;
  std::size_t at = 0;
  for (auto _ : state) {
    wheel.cancel(ids[at]);
    ids[at] = wheel.schedule(kRangeMs, at);
    benchmark::DoNotOptimize(wheel.next_deadline_ms());
    if (++at == connections) {
      at = 0;
      wheel.advance(++now, [](std::uint64_t) {});
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(rearm)->Arg(64)->Arg(10'000);

void advance_over_nothing(benchmark::State& state) {
  flare::TimerWheel wheel;
  wheel.schedule(~0ULL, 0);
  std::uint64_t now = 0;
  for (auto _ : state) benchmark::DoNotOptimize(wheel.advance(++now, [](std::uint64_t) {}));
}
BENCHMARK(advance_over_nothing);

}  // namespace
