// bench_queue: the handoff queue beside a plain ring under a mutex and the field's queues. See run.py for the bars.
//
// push_pop     one push and one pop of one thread
// drain_64     64 pushes, and what it takes to get all of them: the drain alone, per token
// warm_push    a push where this core touched the queue last, timed by itself: the median
// cold_push    the same where another core emptied it
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "harness/measured.h"
#include "queues.h"

namespace {

using flare::bench::median;
using flare::bench::run_on;
using flare::bench::Token;
using Clock = std::chrono::steady_clock;

// Of one load of the clock, ordered behind all before it and ahead of all after it.
std::uint64_t ticks() {
  unsigned processor = 0;
  const std::uint64_t now = __rdtscp(&processor);
  _mm_lfence();
  return now;
}

double ticks_per_ns() {
  static const double value = [] {
    const Clock::time_point begin = Clock::now();
    const std::uint64_t first = ticks();
    while (Clock::now() - begin < std::chrono::milliseconds(50)) {
    }
    const std::uint64_t last = ticks();
    return static_cast<double>(last - first) / std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }();
  return value;
}

// What two readings with nothing between them take.
double empty_ns() {
  static const double value = [] {
    std::vector<std::uint64_t> spans(1001);
    for (std::uint64_t& span : spans) {
      const std::uint64_t begin = ticks();
      span = ticks() - begin;
    }
    return static_cast<double>(median(spans)) / ticks_per_ns();
  }();
  return value;
}

// Spans of single pushes.
class Spans {
 public:
  template <class Queue>
  void push(Queue& queue) {
    const std::uint64_t begin = ticks();
    const bool done = queue.push(7);
    const std::uint64_t end = ticks();
    if (!done) std::abort();
    values_.push_back(static_cast<double>(end - begin) / ticks_per_ns() - empty_ns());
  }
  void tell(benchmark::State& state) {
    if (values_.empty()) return;
    state.counters["p50_ns"] = median(values_);
  }

 private:
  std::vector<double> values_;
};

template <class Queue>
void push_pop(benchmark::State& state) {
  const auto queue = std::make_unique<Queue>();
  Token token = 0;
  for (auto _ : state) {
    if (!queue->push(7) || !queue->pop(token)) std::abort();
    benchmark::DoNotOptimize(token);
  }
}

template <class Queue>
void drain_64(benchmark::State& state) {
  constexpr int kTokens = 64;
  const auto queue = std::make_unique<Queue>();
  std::vector<Token> out;
  std::vector<double> values;
  for (auto _ : state) {
    for (int i = 0; i < kTokens; ++i) queue->push(i);
    const std::uint64_t begin = ticks();
    queue->drain(out);
    const std::uint64_t end = ticks();
    if (out.size() != kTokens) std::abort();
    values.push_back(static_cast<double>(end - begin) / ticks_per_ns() - empty_ns());
  }
  state.counters["p50_ns"] = median(values) / kTokens;
}

template <class Queue>
void warm_push(benchmark::State& state) {
  const auto queue = std::make_unique<Queue>();
  Spans spans;
  Token token = 0;
  for (auto _ : state) {
    spans.push(*queue);
    if (!queue->pop(token)) std::abort();
  }
  spans.tell(state);
}

template <class Queue>
void cold_push(benchmark::State& state) {
  const auto queue = std::make_unique<Queue>();
  // Even: the producer's turn; odd: the consumer's; -1: over.
  alignas(64) std::atomic<std::int64_t> turn{0};
  run_on(0);
  std::thread consumer([&queue, &turn] {
    run_on(1);
    std::vector<Token> out;
    for (;;) {
      const std::int64_t now = turn.load(std::memory_order_acquire);
      if (now < 0) return;
      if (now % 2 == 0) continue;
      queue->drain(out);
      turn.store(now + 1, std::memory_order_release);
    }
  });
  Spans spans;
  std::int64_t mine = 0;
  for (auto _ : state) {
    spans.push(*queue);
    turn.store(mine + 1, std::memory_order_release);
    mine += 2;
    while (turn.load(std::memory_order_acquire) != mine) {
    }
  }
  turn.store(-1, std::memory_order_release);
  consumer.join();
  spans.tell(state);
}

#define FLARE_BENCH_QUEUE(Queue)        \
  BENCHMARK_TEMPLATE(push_pop, Queue);  \
  BENCHMARK_TEMPLATE(drain_64, Queue);  \
  BENCHMARK_TEMPLATE(warm_push, Queue); \
  BENCHMARK_TEMPLATE(cold_push, Queue)

using flare::bench::BoostQueue;
using flare::bench::BoostSingle;
using flare::bench::Handoff;
using flare::bench::MutexRing;
FLARE_BENCH_QUEUE(Handoff);
FLARE_BENCH_QUEUE(MutexRing);
FLARE_BENCH_QUEUE(BoostQueue);
FLARE_BENCH_QUEUE(BoostSingle);
#if FLARE_BENCH_TBB
using flare::bench::TbbQueue;
FLARE_BENCH_QUEUE(TbbQueue);
#endif
#if FLARE_BENCH_CONCURRENTQUEUE
using flare::bench::Moodycamel;
FLARE_BENCH_QUEUE(Moodycamel);
#endif
#if FLARE_BENCH_CK
using flare::bench::CkRing;
FLARE_BENCH_QUEUE(CkRing);
#endif
#if FLARE_BENCH_URCU
using flare::bench::Urcu;
FLARE_BENCH_QUEUE(Urcu);
#endif

}  // namespace

int main(int argc, char** argv) {
  // A process of one thread gets the C library's cheap locks, which no server has.
  std::atomic<bool> over{false};
  std::thread second([&over] { over.wait(false); });
  benchmark::Initialize(&argc, argv);
  const bool known = !benchmark::ReportUnrecognizedArguments(argc, argv);
  if (known) benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  over = true;
  over.notify_all();
  second.join();
  return known ? 0 : 2;
}
