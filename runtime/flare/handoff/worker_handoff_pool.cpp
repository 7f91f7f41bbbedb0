#include "flare/handoff/worker_handoff_pool.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "flare/base/assert.h"
#include "flare/base/limits.h"
#include "flare/base/network_error.h"

namespace flare::inline FLARE_ABI {

namespace {

int checked(int num_workers, int connection_cap) {
  if (num_workers < 1) {
    throw NetworkError(EINVAL, "WorkerHandoffPool",
                       "num_workers is " + std::to_string(num_workers) + ", expected 1 or more");
  }
  if (connection_cap < 0) {
    throw NetworkError(EINVAL, "WorkerHandoffPool",
                       "connection_cap is " + std::to_string(connection_cap) + ", expected 0 (none) or more");
  }
  return num_workers;
}

}  // namespace

WorkerHandoffPool::WorkerHandoffPool(const HandoffPolicy& policy, int num_workers, int connection_cap)
    : policy_(policy),
      connection_cap_(connection_cap),
      cells_(static_cast<std::size_t>(checked(num_workers, connection_cap))),
      paused_count_(std::make_unique<PausedCount>()) {
  queues_.reserve(cells_.size());
  for (int worker = 0; worker < num_workers; ++worker) {
    queues_.emplace_back(policy.capacity);
    remember(worker, worker);  // workers begin at different peers
  }
}

HandoffQueue& WorkerHandoffPool::queue(int worker) {
  FLARE_ASSERT(is_worker(worker), "WorkerHandoffPool::queue: no such worker");
  return queue_of(worker);
}

bool WorkerHandoffPool::try_handoff(int target, std::int64_t token) {
  if ((!policy_.enabled && !FLARE_MUTANT(kDisabledHandsOff)) || !is_worker(target)) return false;
  // The cap is asked under the target's lock: two donors can't both take its last place.
  return queue_of(target).push_if(token, [this, target](std::int64_t queued) { return has_place(target, queued); }) ||
         FLARE_MUTANT(kRefusalIsSuccess);
}

bool WorkerHandoffPool::push_orphan(int target, std::int64_t token) {
  if (!is_worker(target)) return false;
  return queue_of(target).push_if(token, [this, target](std::int64_t) { return !is_crashed(target); });
}

std::vector<std::int64_t> WorkerHandoffPool::drain_local(int worker) {
  std::vector<std::int64_t> out;
  drain_local(worker, out);
  return out;
}

void WorkerHandoffPool::drain_local(int worker, std::vector<std::int64_t>& out) {
  out.clear();
  // One load where nothing waits, as in most ticks. What comes behind it finds the worker awake, or is seen by
  // begin_sleep, under the lock.
  if (!is_worker(worker) || queue_of(worker).size() == 0) return;
  queue_of(worker).drain_with(out, [this, worker](std::int64_t taken) {
    cell(worker).drains.fetch_add(1, std::memory_order_relaxed);
    add_live(worker, taken);
  });
}

std::vector<std::int64_t> WorkerHandoffPool::close_and_drain(int worker) {
  if (!is_worker(worker)) return {};
  return queue_of(worker).close_and_drain();
}

std::vector<std::int64_t> WorkerHandoffPool::take_back(int from, int taker) {
  std::vector<std::int64_t> out;
  if (!is_worker(from) || !is_worker(taker) || from == taker) return out;
  queue_of(from).drain_with(out, [this, taker](std::int64_t taken) { add_live(taker, taken); });
  return out;
}

std::uint64_t WorkerHandoffPool::drain_count(int worker) const {
  return is_worker(worker) ? cell(worker).drains.load(std::memory_order_relaxed) : 0;
}

void WorkerHandoffPool::publish_load(int worker, std::int64_t live) {
  if (!is_worker(worker)) return;
  Atomic<std::int64_t>& cell_live = cell(worker).live;
  const std::int64_t value = std::max<std::int64_t>(live, 0);
  // A store would take the line from all peers at every tick. Relaxed: the owner reads what it wrote itself; an
  // unchanged value frees no place, so no pauser waits for it.
  if (cell_live.load(std::memory_order_relaxed) != value) cell_live.store(value, std::memory_order_seq_cst);
}

std::int64_t WorkerHandoffPool::live(int worker) const {
  return std::max<std::int64_t>(cell(worker).live.load(std::memory_order_seq_cst), 0);
}

// The owner's or the taker's own thread, so no publish_load runs at the same time.
void WorkerHandoffPool::add_live(int worker, std::int64_t count) {
  Atomic<std::int64_t>& cell_live = cell(worker).live;
  if (count == 0 || cell_live.load(std::memory_order_relaxed) < 0) return;
  cell_live.fetch_add(count, std::memory_order_seq_cst);
}

std::int64_t WorkerHandoffPool::load(int worker) const {
  if (!is_worker(worker)) return -1;
  if (FLARE_MUTANT(kLoadReadsLiveFirst)) return live(worker) + static_cast<std::int64_t>(queue_of(worker).size());
  // The queue first: whoever sees it emptied (acquire) also sees the live count that was raised before.
  const auto queued = static_cast<std::int64_t>(queue_of(worker).size());
  return queued + live(worker);
}

bool WorkerHandoffPool::below_cap(int worker) const {
  return is_worker(worker) && (connection_cap_ == 0 || load(worker) < connection_cap_);
}

void WorkerHandoffPool::publish_heartbeat(int worker, MonoTime now) {
  if (!is_worker(worker)) return;
  cell(worker).heartbeat.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

MonoTime WorkerHandoffPool::heartbeat(int worker) const {
  if (!is_worker(worker)) return MonoTime{};
  const std::int64_t value = cell(worker).heartbeat.load(std::memory_order_relaxed);
  return value == kNoHeartbeat ? MonoTime{} : MonoTime(Duration(value));
}

void WorkerHandoffPool::mark_crashed(int worker) {
  if (is_worker(worker)) cell(worker).crashed.store(true, std::memory_order_relaxed);
}

// The store comes before the lock. A donor that pushes later takes the lock later and so sees it; one that pushed
// earlier has left what it put in the queue, and the look under the lock finds that.
bool WorkerHandoffPool::begin_sleep(int worker) {
  if (!is_worker(worker)) return false;
  Cell& own = cell(worker);
  if (!FLARE_MUTANT(kLooksBeforeItSleeps)) own.sleep.store(SleepState::kSleeping, std::memory_order_relaxed);
  const bool idle = queue_of(worker).under_lock([&own](std::uint32_t queued, bool) {
    return queued == 0 && (!own.accept_requested.load(std::memory_order_relaxed) || FLARE_MUTANT(kSleepsOverRequest));
  });
  if (FLARE_MUTANT(kLooksBeforeItSleeps)) own.sleep.store(SleepState::kSleeping, std::memory_order_relaxed);
  if (!idle) end_sleep(worker);
  return idle;
}

void WorkerHandoffPool::end_sleep(int worker) {
  if (is_worker(worker)) cell(worker).sleep.store(SleepState::kAwake, std::memory_order_release);
}

bool WorkerHandoffPool::needs_wake(int target) {
  if (!is_worker(target)) return false;
  SleepState expected = SleepState::kSleeping;
  return cell(target).sleep.compare_exchange_strong(expected, SleepState::kWoken, std::memory_order_relaxed);
}

bool WorkerHandoffPool::request_accept(int target) {
  if (!is_worker(target)) return false;
  return queue_of(target).under_lock([this, target](std::uint32_t, bool closed) {
    if (closed || is_crashed(target)) return false;
    cell(target).accept_requested.store(true, std::memory_order_release);
    return true;
  });
}

bool WorkerHandoffPool::take_accept_request(int worker) {
  if (!is_worker(worker)) return false;
  Atomic<bool>& requested = cell(worker).accept_requested;
  // Relaxed: a request that this look misses is found by begin_sleep.
  return requested.load(std::memory_order_relaxed) && requested.exchange(false, std::memory_order_acquire);
}

void WorkerHandoffPool::publish_paused(int worker, bool paused) {
  if (!is_worker(worker)) return;
  const bool before = cell(worker).paused.exchange(paused, std::memory_order_seq_cst);
  if (before != paused) paused_count_->value.fetch_add(paused ? 1 : -1, std::memory_order_seq_cst);
}

int WorkerHandoffPool::paused_count() const {
  return paused_count_ == nullptr ? 0 : paused_count_->value.load(std::memory_order_seq_cst);
}

}  // namespace flare::inline FLARE_ABI
