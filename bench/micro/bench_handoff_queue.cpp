// bench_handoff_queue: the queue next to a plain ring under a mutex, and what the pool adds.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "flare/handoff/handoff_queue.h"
#include "flare/handoff/worker_handoff_pool.h"

namespace {

constexpr int kCapacity = 1024;

// The least that a bounded queue under a mutex can do: the floor of the comparison.
class PlainRing {
 public:
  bool push(std::int64_t token) {
    const std::lock_guard lock(mutex_);
    if (count_ == slots_.size()) return false;
    slots_[tail_] = token;
    tail_ = tail_ + 1 == slots_.size() ? 0 : tail_ + 1;
    ++count_;
    return true;
  }
  std::optional<std::int64_t> pop() {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return std::nullopt;
    const std::int64_t token = slots_[head_];
    head_ = head_ + 1 == slots_.size() ? 0 : head_ + 1;
    --count_;
    return token;
  }

 private:
  std::mutex mutex_;
  std::vector<std::int64_t> slots_ = std::vector<std::int64_t>(kCapacity);
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t count_ = 0;
};

template <class Queue>
void push_and_pop(benchmark::State& state, Queue& queue) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(queue.push(7));
    benchmark::DoNotOptimize(queue.pop());
  }
  state.SetItemsProcessed(state.iterations());
}

void plain_ring(benchmark::State& state) {
  PlainRing ring;
  push_and_pop(state, ring);
}
BENCHMARK(plain_ring);

void handoff_queue(benchmark::State& state) {
  flare::HandoffQueue queue(kCapacity);
  push_and_pop(state, queue);
}
BENCHMARK(handoff_queue);

// Time of the drain alone, per token.
void drain(benchmark::State& state) {
  flare::HandoffQueue queue(kCapacity);
  std::vector<std::int64_t> out;
  for (auto _ : state) {
    state.PauseTiming();
    for (std::int64_t token = 0; token < state.range(0); ++token) queue.push(token);
    state.ResumeTiming();
    queue.drain(out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(drain)->Arg(64)->Arg(1024);

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
