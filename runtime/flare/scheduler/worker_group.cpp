#include "flare/scheduler/worker_group.h"

#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "flare/kernel/system_kernel.h"
#include "flare/worker/worker_exit.h"

namespace flare::inline FLARE_ABI {

bool WorkerGroup::all_returned() const {
  for (const WorkerSeat& seat : seats) {
    if (!seat.returned.load(std::memory_order_acquire)) return false;
  }
  return true;
}

bool WorkerGroup::is_worker_thread() const {
  for (const WorkerSeat& seat : seats) {
    if (seat.inside.load(std::memory_order_acquire) && same_thread(seat.thread, current_thread_id())) return true;
  }
  return false;
}

void WorkerGroup::disable_listeners(int worker) {
  const MutexLock lock(shared->rows_mutex);
  for (const Shared<Listener>& listener : shared->listeners[static_cast<std::size_t>(worker)]) {
    static_cast<void>(listener->disable());
  }
}

void WorkerGroup::stop_deferring() {
  if (!shared->defers) return;
  const MutexLock lock(shared->rows_mutex);
  for (const auto& row : shared->listeners) {
    for (const Shared<Listener>& listener : row) listener->stop_deferring();
  }
}

void WorkerGroup::release_listeners(int worker) {
  const MutexLock lock(shared->rows_mutex);
  shared->listeners[static_cast<std::size_t>(worker)].clear();
}

namespace {

// Says a line that must be put together; without memory for it, the text that it is about.
template <class MakeLine>
void report(WorkerShared& shared, std::string_view text, MakeLine make_line) noexcept {
  try {
    shared.report(make_line());
  } catch (const std::exception&) {
    shared.report(text);
  }
}

void pin(WorkerShared& shared, int id, int cpu) noexcept {
  if (cpu < 0) return;
  const Status status = SystemKernel::pin_current_thread(cpu);
  if (status.ok()) return;
  report(shared, "a worker could not be pinned to its CPU; it runs unpinned", [&] {
    return "worker " + std::to_string(id) + " could not be pinned to CPU " + std::to_string(cpu) + ": " +
           std::strerror(status.error) + "; it runs unpinned";
  });
}

void crashed(WorkerContext& context, std::string_view text) noexcept {
  if (text.empty()) text = "an exception without a text";
  context.pool().mark_crashed(context.id());
  if (!FLARE_MUTANT(kCrashNotCounted)) context.stats().set_crashed(text);
  report(*context.shared(), text,
         [&] { return "worker " + std::to_string(context.id()) + " crashed: " + std::string(text); });
}

// Whatever run throws, and even if memory is what ran out, the thread goes on to leave in order.
void run_guarded(WorkerContext& context, RunWorkerFunction& run) noexcept {
  try {
    run(context);
  } catch (const std::exception& error) {
    crashed(context, error.what());
  } catch (...) {
    crashed(context, "an exception that is no std::exception");
  }
}

}  // namespace

void run_worker_thread(Shared<WorkerGroup> owned, int id, RunWorkerFunction run, int cpu) {
  WorkerGroup* const group = owned.get();
  if (FLARE_MUTANT(kWorkerHoldsNothing)) owned.reset();
  WorkerShared& shared = *group->shared;
  WorkerSeat& seat = group->seats[static_cast<std::size_t>(id)];
  seat.thread = current_thread_id();
  seat.inside.store(true, std::memory_order_release);
  pin(shared, id, cpu);
  WorkerContext context(group->shared, id);
  run_guarded(context, run);
  evacuate(context);
  run = nullptr;  // the frontend's copy ends on its own worker, before the worker counts as returned
  seat.inside.store(false, std::memory_order_release);
  const bool last = group->running.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (last) {
    // Nobody is left to accept: clients must be refused, not left waiting.
    for (int worker = 0; worker < shared.pool.size(); ++worker) group->disable_listeners(worker);
    group->stop_event.wake();
  }
  seat.returned.store(true, std::memory_order_release);
  group->progress.wake();
}

}  // namespace flare::inline FLARE_ABI
