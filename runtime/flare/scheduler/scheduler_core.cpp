#include "flare/scheduler/scheduler_core.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "flare/base/limits.h"
#include "flare/base/network_error.h"
#include "flare/kernel/system_kernel.h"

namespace flare::inline FLARE_ABI::detail {

namespace {

// Waits until progress was made or until, and forgets the progress: the caller looks again.
void await_progress(const WorkerGroup& group, MonoTime now, MonoTime until) {
  int timeout = -1;
  if (until != kNever) {
    const std::uint64_t now_ms = floor_ms(now);
    const std::uint64_t until_ms = ceil_ms(until);
    timeout = until_ms <= now_ms ? 0 : static_cast<int>(std::min<std::uint64_t>(until_ms - now_ms, INT_MAX));
  }
  static_cast<void>(SystemKernel::wait_readable(group.progress.fd(), timeout));
  group.progress.clear();
}

}  // namespace

SchedulerCore::SchedulerCore(Shared<WorkerGroup> group, std::vector<SocketAddress> addresses, std::string strategy)
    : addresses_(std::move(addresses)),
      strategy_(std::move(strategy)),
      policy_(group->shared->pool.policy()),
      worker_count_(group->shared->pool.size()),
      record_(worker_count_),
      live_(group.get()),
      group_(std::move(group)) {
  threads_.reserve(static_cast<std::size_t>(worker_count_));
}

SchedulerCore::~SchedulerCore() {
  if (FLARE_MUTANT(kFailedStartLeavesThreads) && static_cast<int>(threads_.size()) < worker_count_) return;
  static_cast<void>(stop(MonoTime::min(), /*may_detach=*/false));
}

void SchedulerCore::start_worker(RunWorkerFunction run, int cpu) {
  const Shared<WorkerGroup> held = group();
  const int id = static_cast<int>(threads_.size());
  WorkerSeat& seat = held->seats[threads_.size()];
  seat.returned.store(false, std::memory_order_relaxed);  // the start of the thread orders it
  Result<Thread> thread = Result<Thread>::failure(ENOMEM);
  try {
    thread = Thread::start([own = held, id, run = std::move(run), cpu]() mutable {
      run_worker_thread(std::move(own), id, std::move(run), cpu);
    });
  } catch (...) {
    // No memory: there is no thread, and a stop must not wait for one.
    seat.returned.store(true, std::memory_order_relaxed);
    throw;
  }
  if (!thread.ok()) {
    seat.returned.store(true, std::memory_order_relaxed);
    throw NetworkError(thread.error(), "Scheduler::start", "thread of worker " + std::to_string(id));
  }
  threads_.push_back(std::move(thread).value());  // reserved: it cannot throw
}

Shared<WorkerGroup> SchedulerCore::group() const {
  const MutexLock lock(mutex_);
  return group_;
}

void SchedulerCore::request_stop() noexcept {
  requests_.fetch_add(1);
  if (const WorkerGroup* group = live_.load()) {
    // The cell first, then the wakes: a worker that is woken must find the stop.
    static_cast<void>(group->shared->stop.request());
    group->shared->wake_all();
    group->progress.wake();
    group->stop_event.wake();
  }
  requests_.fetch_sub(1);
}

void SchedulerCore::wait() {
  const Shared<WorkerGroup> held = group();
  if (held == nullptr) return;
  if (held->is_worker_thread()) throw NetworkError(EDEADLK, "Scheduler::wait", "called from a worker's own thread");
  for (;;) {
    const Result<bool> ready = SystemKernel::wait_readable(held->stop_event.fd(), -1);
    if (ready.ok()) return;  // without a timeout it ends by what it waits for only
    if (ready.error() != EINTR) throw NetworkError(ready.error(), "Scheduler::wait");
  }
}

// True: the caller leads. False: the stop had been led by another caller and is over.
bool SchedulerCore::lead_or_wait(MonoTime deadline) {
  const MutexLock lock(mutex_);
  if (group_ == nullptr) return false;
  if (group_->is_worker_thread()) {
    throw NetworkError(EDEADLK, "Scheduler::drain or shutdown", "called from a worker's own thread");
  }
  if (FLARE_MUTANT(kWokenBeforeStop)) group_->shared->wake_all();
  group_->stop_deferring();
  StopCell& cell = group_->shared->stop;
  static_cast<void>(deadline <= SystemKernel::now() ? cell.cut() : cell.drain_until(deadline));
  if (!FLARE_MUTANT(kWokenBeforeStop)) group_->shared->wake_all();
  group_->progress.wake();
  group_->stop_event.wake();
  if (phase_ == Phase::kServing || FLARE_MUTANT(kEveryStopLeads)) {
    phase_ = Phase::kStopping;
    return true;
  }
  if (FLARE_MUTANT(kSecondStopReturnsEarly)) return false;
  changed_.wait(mutex_, [this]() FLARE_REQUIRES(mutex_) { return phase_ == Phase::kStopped; });
  return false;
}

std::vector<ShutdownReport> SchedulerCore::stop(MonoTime deadline, bool may_detach) {
  if (!lead_or_wait(deadline)) return {};
  const Shared<WorkerGroup> held = group();
  await_deadline(*held);
  cut_and_await(*held, may_detach);
  collect(*held);
  std::vector<ShutdownReport> reports = std::move(record_.reports);
  release_group();
  return reports;
}

void SchedulerCore::await_deadline(WorkerGroup& group) {
  for (;;) {
    const MonoTime now = SystemKernel::now();
    const StopCell::View stop = group.shared->stop.read(now);
    if (group.all_returned() || stop.phase == StopPhase::kCut) return;
    await_progress(group, now, stop.deadline);
  }
}

void SchedulerCore::cut_and_await(WorkerGroup& group, bool may_detach) {
  if (group.all_returned()) return;
  static_cast<void>(group.shared->stop.cut());
  // For whoever has not done it: from now on clients are refused.
  for (int id = 0; id < worker_count_; ++id) group.disable_listeners(id);
  group.shared->wake_all();
  const MonoTime give_up = may_detach ? saturating_add(SystemKernel::now(), limits::kJoinGrace) : kNever;
  for (;;) {
    const MonoTime now = SystemKernel::now();
    if (group.all_returned() || now >= give_up) return;
    await_progress(group, now, give_up);
  }
}

void SchedulerCore::collect(WorkerGroup& group) {
  // A start that failed has fewer threads than workers. All queues are closed before anything is counted: a worker that
  // is only late may still push, and must not do so between its own report and the one of its target.
  for (int id = 0; id < static_cast<int>(threads_.size()); ++id) sweep_queue(*group.shared, id, record_);
  for (std::size_t index = 0; index < threads_.size(); ++index) {
    const int id = static_cast<int>(index);
    const bool stuck = !group.seats[index].returned.load(std::memory_order_acquire);
    if (stuck) {
      report_stuck(*group.shared, id, record_);
      threads_[index].detach();
    } else {
      threads_[index].join();
      report_joined(*group.shared, id, record_);
      group.release_listeners(id);
    }
  }
  record_.reports.resize(threads_.size());
}

// After this nothing of the group is reachable from here; a worker that was left behind holds what it needs.
void SchedulerCore::release_group() {
  live_.store(nullptr);
  // A signal handler may be in the middle of its wakes.
  while (requests_.load() != 0 && !FLARE_MUTANT(kRequestNotAwaited)) yield_thread();
  Shared<WorkerGroup> released;
  const MutexLock lock(mutex_);
  released = std::move(group_);
  group_ = nullptr;
  last_ = std::move(record_.last);
  phase_ = Phase::kStopped;
  changed_.notify_all();
}

bool SchedulerCore::is_running() const {
  const MutexLock lock(mutex_);
  return group_ != nullptr && group_->running.load(std::memory_order_acquire) > 0;
}

std::vector<WorkerSnapshot> SchedulerCore::stats() const {
  const Shared<WorkerGroup> held = group();
  if (held == nullptr) {
    const MutexLock lock(mutex_);
    return last_;
  }
  std::vector<WorkerSnapshot> all;
  const MonoTime now = SystemKernel::now();
  for (int id = 0; id < worker_count_; ++id) all.push_back(held->shared->snapshot(id, now));
  return all;
}

int SchedulerCore::crashed_count() const {
  int count = 0;
  for (const WorkerSnapshot& one : stats()) count += one.crashed ? 1 : 0;
  return count;
}

}  // namespace flare::inline FLARE_ABI::detail
