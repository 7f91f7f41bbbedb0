#include "flare/scheduler/worker_group.h"

#include <cstring>
#include <exception>
#include <string>

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

void WorkerGroup::release_listeners(int worker) {
  const MutexLock lock(shared->rows_mutex);
  shared->listeners[static_cast<std::size_t>(worker)].clear();
}

namespace {

void pin(WorkerShared& shared, int id, int cpu) {
  if (cpu < 0) return;
  const Status status = SystemKernel::pin_current_thread(cpu);
  if (status.ok()) return;
  shared.report("worker " + std::to_string(id) + " could not be pinned to CPU " + std::to_string(cpu) + ": " +
                std::strerror(status.error) + "; it runs unpinned");
}

// What run threw, as text; empty when it returned.
std::string run_guarded(WorkerContext& context, RunWorkerFunction& run) {
  try {
    run(context);
    return {};
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.empty() ? "an exception without a text" : text;
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

void run_worker_thread(const Shared<WorkerGroup>& group, int id, RunWorkerFunction run, int cpu) {
  WorkerShared& shared = *group->shared;
  WorkerSeat& seat = group->seats[static_cast<std::size_t>(id)];
  seat.thread = current_thread_id();
  seat.inside.store(true, std::memory_order_release);
  pin(shared, id, cpu);
  WorkerContext context(group->shared, id);
  const std::string error = run_guarded(context, run);
  if (!error.empty()) {
    shared.pool.mark_crashed(id);
    context.stats().set_crashed(error);
    shared.report("worker " + std::to_string(id) + " crashed: " + error);
  }
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
