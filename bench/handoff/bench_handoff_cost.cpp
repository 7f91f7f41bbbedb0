// bench_handoff_cost: what a donor pays for a handoff, and how long a target that sleeps takes to wake. JSON on stdout.
//
// push_ns        choosing a target that is awake, its push and the question whether it needs a wake: the median
// wake_ns        from Waker::wake() until Reactor::poll() of a worker that slept has returned: the median
// raw_wake_ns    the same with an eventfd and epoll_wait alone, in turn with it
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "flare/handoff/worker_handoff_pool.h"
#include "flare/reactor/reactor.h"
#include "harness/measured.h"

namespace {

using flare::bench::median;
using flare::bench::run_on;
using Clock = std::chrono::steady_clock;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

// What two readings of the clock with nothing between them take.
std::int64_t clock_ns() {
  std::vector<std::int64_t> spans(10'001);
  for (std::int64_t& span : spans) {
    const std::int64_t begin = now_ns();
    span = now_ns() - begin;
  }
  return median(spans);
}

// Worker 1 is busy: it drains its queue again and again, as a loop under load does.
std::int64_t push_ns() {
  constexpr int kPushes = 20'000;
  flare::WorkerHandoffPool pool(flare::HandoffPolicy(true, 64, 1), 2);
  std::atomic<bool> over{false};
  std::thread target([&pool, &over] {
    run_on(1);
    std::vector<std::int64_t> out;
    while (!over.load(std::memory_order_relaxed)) {
      pool.drain_local(1, out);
      pool.publish_load(1, 0);
      const std::int64_t end = now_ns() + 5'000;  // what it does besides
      while (now_ns() < end) {
      }
    }
  });
  const std::int64_t clock = clock_ns();
  std::vector<std::int64_t> spans;
  while (spans.size() < kPushes) {
    const std::int64_t begin = now_ns();
    const int to = pool.choose_handoff_target(0, 100);
    const bool pushed = to == 1 && pool.try_handoff(to, 7);
    const bool wake = pool.needs_wake(1);
    const std::int64_t end = now_ns();
    if (pushed && !wake) spans.push_back(end - begin - clock);
    const std::int64_t next = end + 5'000;  // the accept, and the rest of a donor's work
    while (now_ns() < next) {
    }
  }
  over = true;
  target.join();
  return median(spans);
}

// Adds spans from wake() to the return of sleep(), which the other core is in by then.
void measure_wakes(const std::function<void()>& wake, const std::function<void()>& sleep,
                   std::vector<std::int64_t>& spans) {
  constexpr int kWakes = 30;
  std::atomic<std::int64_t> woken{0};
  std::atomic<bool> over{false};
  std::thread sleeper([&] {
    run_on(1);
    while (!over) {
      sleep();
      woken.store(now_ns());
    }
  });
  for (int i = 0; i < kWakes; ++i) {
    const std::int64_t rest = now_ns() + 1'000'000;  // until it sleeps, and its core with it
    while (now_ns() < rest) {
    }
    woken = 0;
    const std::int64_t begin = now_ns();
    wake();
    while (woken == 0) {
    }
    spans.push_back(woken - begin);
  }
  over = true;
  wake();
  sleeper.join();
}

}  // namespace

int main() {
  run_on(0);
  const std::int64_t push = push_ns();

  flare::Reactor reactor;
  std::vector<flare::Event> events;
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  const int raw = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  if (set < 0 || raw < 0 || ::epoll_ctl(set, EPOLL_CTL_ADD, raw, &event) != 0) return std::perror("epoll"), 1;
  const std::uint64_t one = 1;
  const auto wake_raw = [&] { static_cast<void>(::write(raw, &one, sizeof one) == sizeof one); };
  const auto sleep_raw = [&] {
    epoll_event got[64];
    std::uint64_t value = 0;
    ::epoll_wait(set, got, 64, -1);
    static_cast<void>(::read(raw, &value, sizeof value) == sizeof value);
  };
  std::vector<std::int64_t> ours;
  std::vector<std::int64_t> plain;
  for (int turn = 0; turn < 10; ++turn) {  // a machine's wakes change within seconds
    measure_wakes([&] { reactor.wakeup(); }, [&] { reactor.poll(-1, events, 1024); }, ours);
    measure_wakes(wake_raw, sleep_raw, plain);
  }
  const std::int64_t wake = median(ours);
  const std::int64_t raw_wake = median(plain);
  std::printf("{\"push_ns\": %lld, \"wake_ns\": %lld, \"raw_wake_ns\": %lld}\n", static_cast<long long>(push),
              static_cast<long long>(wake), static_cast<long long>(raw_wake));
  ::close(raw);
  ::close(set);
  return 0;
}
