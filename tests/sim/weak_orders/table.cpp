#include "weak_orders/table.h"

#include <span>

namespace flare::sim {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;
constexpr auto kSeqCst = std::memory_order_seq_cst;

constexpr const char* kMove =
    "only the control thread moves a queue, before any other thread knows of it: whatever makes the queue known to "
    "another thread, the start of that thread at the latest, orders the move before every use";
constexpr const char* kExpected =
    "success means that the word still is the store that was read before, by an acquire: the word only falls, so no "
    "other store has the same value, and acquiring what that one published a second time adds nothing";
constexpr const char* kPausedHint =
    "with acquire and release the count still publishes the cell: it is raised (a read-modify-write that releases) "
    "after the cell is set, and read (acquire) before the cell, and all its writes are read-modify-writes, so any "
    "later count carries it on. What is missed is a cell that changes at the same time, which is missed too when the "
    "look comes a moment earlier";

// --- listener, stop cell, statistics
constexpr WeakOrder kSignals[] = {
    {"net/listener.cpp", "disabled_.exchange(true", 1, kAcqRel, kAcquire, "listener",
     "who finds the listener disabled does not see what was done before"},
    {"net/listener.cpp", "disabled_.exchange(true", 1, kAcqRel, kRelease, "listener",
     "who comes second does not see what the first did before"},
    {"net/listener.cpp", "disabled_.load(", 1, kAcquire, kRelaxed, "listener",
     "who finds the listener disabled does not see what was done before"},
    {"worker/stop_cell.h", "word_.load(FLARE_MUTANT(kStopCellRelaxed)", 1, kAcquire, kRelaxed, "stop-read",
     "a worker that reads the stop does not see what came before it"},
    {"worker/stop_cell.h", "bool is_running()", 1, kAcquire, kRelaxed, "stop-is-running",
     "a worker that reads the stop does not see what came before it"},
    {"worker/stop_cell.h", "    std::int64_t word = word_.load(", 1, kAcquire, kRelaxed, "stop-request-cut",
     "a request that finds the cut does not see what came before it"},
    {"worker/stop_cell.h", "compare_exchange_weak(word, next", 1, kAcqRel, kAcquire, "stop-is-running",
     "a worker that reads the stop does not see what came before it"},
    {"worker/stop_cell.h", "compare_exchange_weak(word, next", 1, kAcqRel, kRelease, nullptr, kExpected},
    {"worker/stop_cell.h", "compare_exchange_weak(word, next", 1, kAcquire, kRelaxed, "stop-request-cut",
     "a request that is overtaken by the cut does not see what came before it"},
    {"worker/stop_cell.h", "    std::int64_t word = word_.load(", 2, kAcquire, kRelaxed, "stop-cut-cut",
     "a cut that finds another one does not see what came before it"},
    {"worker/stop_cell.h", "compare_exchange_weak(word, wanted", 1, kAcqRel, kAcquire, "stop-cut-cut",
     "who finds the cut does not see what came before it"},
    {"worker/stop_cell.h", "compare_exchange_weak(word, wanted", 1, kAcqRel, kRelease, nullptr, kExpected},
    {"worker/stop_cell.h", "compare_exchange_weak(word, wanted", 1, kAcquire, kRelaxed, "stop-cut-cut",
     "a cut that is overtaken by another one does not see what came before it"},
    {"worker/worker_stats.h", "crashed_.load(", 1, kAcquire, kRelaxed, "stats-crashed",
     "who sees the crash does not see what the worker did before (the text alone is safe: its lock orders it)"},
    {"worker/worker_stats.cpp", "crashed_.store(", 1, kRelease, kRelaxed, "stats-crashed",
     "who sees the crash does not see what the worker did before (the text alone is safe: its lock orders it)"},
};

// --- threads of workers, and request_stop against the release of the group
constexpr WeakOrder kScheduler[] = {
    {"scheduler/worker_group.cpp", "seat.returned.load(", 1, kAcquire, kRelaxed, "group-returned",
     "who sees all workers returned does not see what they did"},
    {"scheduler/worker_group.cpp", "seat.inside.load(", 1, kAcquire, kRelaxed, "group-inside",
     "the thread's id is read while it may be written"},
    {"scheduler/worker_group.cpp", "seat.inside.store(true", 1, kRelease, kRelaxed, "group-inside",
     "the thread's id is read while it may be written"},
    {"scheduler/worker_group.cpp", "seat.inside.store(false", 1, kRelease, kRelaxed, nullptr,
     "who reads false reads nothing on the strength of it: the id is looked at only where true was read, and a seat "
     "is used by one thread only, so the id is not written again"},
    {"scheduler/worker_group.cpp", "running.fetch_sub(", 1, kAcqRel, kAcquire, "group-last",
     "the last worker, and whoever it wakes, does not see what the others did"},
    {"scheduler/worker_group.cpp", "running.fetch_sub(", 1, kAcqRel, kRelease, "group-last",
     "the last worker, and whoever it wakes, does not see what the others did"},
    {"scheduler/worker_group.cpp", "seat.returned.store(true", 1, kRelease, kRelaxed, "group-returned",
     "who sees all workers returned does not see what they did"},
    {"scheduler/scheduler_core.cpp", "group.seats[index].returned.load(", 1, kAcquire, kRelaxed, nullptr,
     "true leads to the join of that thread, which orders all that it did before what is read of it; false leads to "
     "the detached worker's report, which reads atomics and what a lock guards"},
    {"scheduler/scheduler_core.cpp", "running.load(", 1, kAcquire, kRelaxed, "is-running",
     "who reads that no worker is left does not see what they did"},
    {"scheduler/scheduler_core.cpp", "requests_.fetch_add(1)", 1, kSeqCst, kAcqRel, "request-stop",
     "the leader does not see the request and frees the group under it"},
    {"scheduler/scheduler_core.cpp", "live_.load()", 1, kSeqCst, kAcquire, "request-stop",
     "a request that the leader did not see finds the group that was freed"},
    {"scheduler/scheduler_core.cpp", "requests_.fetch_sub(1)", 1, kSeqCst, kAcqRel, nullptr,
     "it need not have a place in the one order: the leader that reads it, or a later read-modify-write, "
     "synchronises "
     "with it by release and acquire, and one that reads an older count only waits longer"},
    {"scheduler/scheduler_core.cpp", "live_.store(nullptr)", 1, kSeqCst, kRelease, "request-stop",
     "a request that the leader did not see finds the group that was freed"},
    {"scheduler/scheduler_core.cpp", "requests_.load()", 1, kSeqCst, kAcquire, "request-stop",
     "the leader does not see the request and frees the group under it"},
};

constexpr WeakOrder kQueue[] = {
    {"handoff/handoff_queue.cpp", "count_.store(stolen.count", 1, kRelease, kRelaxed, nullptr, kMove},
    {"handoff/handoff_queue.cpp", "closed_.store(stolen.closed", 1, kRelease, kRelaxed, nullptr, kMove},
    {"handoff/handoff_queue.cpp", "  count_.store(0", 1, kRelease, kRelaxed, nullptr, kMove},
    {"handoff/handoff_queue.cpp", "  closed_.store(true", 1, kRelease, kRelaxed, nullptr, kMove},
    {"handoff/handoff_queue.cpp", "{ closed_.store(true", 1, kRelease, kRelaxed, "queue-close-and-drain",
     "who sees the queue closed does not see what was done before"},
    {"handoff/handoff_queue.cpp", "  closed_.store(true", 2, kRelease, kRelaxed, "queue-close",
     "who sees the queue closed does not see what was done before"},
    {"handoff/handoff_queue.h", "count_.store(count_now() + 1", 1, kRelease, kRelaxed, "queue-count",
     "who sees the count that followed a drain does not see what the taker did before it"},
    {"handoff/handoff_queue.h", "count_.store(count_now() - 1", 1, kRelease, kRelaxed, "queue-count",
     "who sees the count that followed a drain does not see what the taker did before it"},
    {"handoff/handoff_queue.cpp", "  count_.store(0", 2, kRelease, kRelaxed, "queue-count",
     "who sees the queue emptied does not see what the taker did before"},
    {"handoff/handoff_queue.h", "count_.load(std::memory_order_acquire)", 1, kAcquire, kRelaxed, "queue-count",
     "who sees the queue emptied does not see what the taker did before"},
    {"handoff/handoff_queue.h", "closed_.load(std::memory_order_acquire)", 1, kAcquire, kRelaxed, "queue-close",
     "who sees the queue closed does not see what was done before"},
};

// --- the pool: a place that becomes free against a worker that pauses; sleep, heartbeat, requests
constexpr WeakOrder kPool[] = {
    {"handoff/worker_handoff_pool.cpp", "cell_live.store(value", 1, kSeqCst, kRelease, "place-and-pause",
     "neither sees the other: a place is free and the paused worker sleeps"},
    {"handoff/worker_handoff_pool.cpp", "cell(worker).live.load(", 1, kSeqCst, kAcquire, "place-and-pause",
     "neither sees the other: a place is free and the paused worker sleeps"},
    {"handoff/worker_handoff_pool.cpp", "cell_live.fetch_add(", 1, kSeqCst, kAcqRel, nullptr,
     "it only raises the load. The one order is there for a load that falls: a worker that pauses and sees the lower "
     "load of before tries where there is no place, is refused under the lock, and pauses all the same; and whoever "
     "sees the queue emptied sees the raise by release and acquire of the count"},
    {"handoff/worker_handoff_pool.cpp", "paused.exchange(", 1, kSeqCst, kAcqRel, nullptr, kPausedHint},
    {"handoff/worker_handoff_pool.cpp", "paused_count_->value.fetch_add(", 1, kSeqCst, kAcqRel, "place-and-pause",
     "neither sees the other: a place is free and the paused worker sleeps"},
    {"handoff/worker_handoff_pool.cpp", "paused_count_->value.load(", 1, kSeqCst, kAcquire, "place-and-pause",
     "neither sees the other: a place is free and the paused worker sleeps"},
    {"handoff/handoff_choice.cpp", "cell(peer).paused.load(", 1, kSeqCst, kAcquire, nullptr, kPausedHint},
    {"handoff/handoff_choice.cpp", "peer.paused.load(", 1, kSeqCst, kAcquire, nullptr,
     "a choice among peers by what they are a moment ago. A peer that looks paused and resumes is passed over; it "
     "registers its listener after it said so, and the kernel shows it what waits there. One that looks ready and "
     "pauses is asked, and pausing it tries once more after it said so"},
    {"handoff/worker_handoff_pool.cpp", "sleep.store(SleepState::kAwake", 1, kRelease, kRelaxed, "heartbeat",
     "a worker that has just woken looks stuck: its heartbeat of before the sleep is seen"},
    {"handoff/handoff_choice.cpp", "peer.sleep.load(std::memory_order_acquire)", 1, kAcquire, kRelaxed, "heartbeat",
     "a worker that has just woken looks stuck: its heartbeat of before the sleep is seen"},
    {"handoff/worker_handoff_pool.cpp", "accept_requested.store(true", 1, kRelease, kRelaxed, "accept-request",
     "the accept does not see what the one that asked did before"},
    {"handoff/worker_handoff_pool.cpp", "requested.exchange(false", 1, kAcquire, kRelaxed, "accept-request",
     "the accept does not see what the one that asked did before"},
};

}  // namespace

std::vector<WeakOrder> weak_orders() {
  std::vector<WeakOrder> all;
  for (const std::span<const WeakOrder> rows :
       {std::span<const WeakOrder>(kSignals), std::span<const WeakOrder>(kScheduler),
        std::span<const WeakOrder>(kQueue), std::span<const WeakOrder>(kPool)}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

std::string text_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
    default:
      return "?";
  }
}

}  // namespace flare::sim
