// Scheduler::start: everything is checked and bound before the first thread; what fails undoes all.
#include <cerrno>
#include <string>
#include <utility>

#include "flare/base/limits.h"
#include "flare/base/network_error.h"
#include "flare/kernel/system_kernel.h"
#include "flare/scheduler/cpu_affinity.h"
#include "flare/scheduler/scheduler.h"
#include "flare/scheduler/scheduler_core.h"

namespace flare::inline FLARE_ABI::detail {

namespace {

void check(bool good, const char* name, std::int64_t value, const char* expected) {
  if (good) return;
  throw NetworkError(EINVAL, "Scheduler::start",
                     std::string(name) + " is " + std::to_string(value) + ", expected " + expected);
}

void validate(const StartRequest& request) {
  const ServingOptions& serving = request.options.serving;
  check(request.num_workers >= limits::kMinWorkers && request.num_workers <= limits::kMaxWorkers, "num_workers",
        request.num_workers, "1..256");
  check(serving.max_connections >= 0 && serving.max_connections <= 1'000'000, "max_connections",
        serving.max_connections, "0 (no cap) .. 1000000");
  check(serving.accept_budget >= 1 && serving.accept_budget <= 65536, "accept_budget", serving.accept_budget,
        "1..65536");
  check(serving.max_events >= 1 && serving.max_events <= 65536, "max_events", serving.max_events, "1..65536");
  check(request.options.listener.backlog >= 1, "backlog", request.options.listener.backlog, "1 or more");
  check(request.options.listener.defer_accept_s >= 0, "defer_accept_s", request.options.listener.defer_accept_s,
        "0 (off) or more seconds");
}

bool use_shared_listener(const StartRequest& request, WorkerShared& shared) {
  if (request.requires_per_worker_listener) return false;
  if (request.options.strategy != ListenerStrategy::kFromEnvironment) {
    return request.options.strategy == ListenerStrategy::kShared;
  }
  const std::string value = read_environment("FLARE_REUSEPORT_WORKERS").value_or("");
  if (value == "0") return true;
  if (!value.empty() && value != "1") {
    shared.report("FLARE_REUSEPORT_WORKERS is \"" + value + "\", expected 0 (one shared listener) or 1; it is ignored");
  }
  return false;
}

HandoffPolicy policy_of(const StartRequest& request, std::string& report) {
  const HandoffPolicy policy = request.options.policy ? *request.options.policy : HandoffPolicy::from_env({}, &report);
  check(policy.capacity >= 0 && policy.capacity <= limits::kMaxHandoffCapacity, "capacity", policy.capacity,
        "0..1048576");
  return policy;
}

// Binds every address and gives each worker its row.
std::vector<SocketAddress> bind_all(const StartRequest& request, WorkerShared& shared, bool one_for_all) {
  std::vector<SocketAddress> addresses;
  shared.listeners.resize(static_cast<std::size_t>(request.num_workers));
  shared.defers = request.options.listener.defer_accept_s > 0;
  const auto add_own = [&](const SocketAddress& address) {
    const auto group = bind_reuseport(address, request.num_workers, request.options.listener);
    for (std::size_t id = 0; id < group.size(); ++id) shared.listeners[id].push_back(group[id]);
    addresses.push_back(group.front()->address());
  };
  if (one_for_all) {
    const Shared<Listener> listener = bind_shared(request.address, request.options.listener);
    for (auto& row : shared.listeners) row.push_back(listener);
    addresses.push_back(listener->address());
  } else {
    add_own(request.address);
  }
  for (const SocketAddress& address : request.extra_addresses) add_own(address);
  return addresses;
}

void start_threads(const StartRequest& request, SchedulerCore& core) {
  std::vector<int> cpus;
  if (request.pin_cores) {
    Result<std::vector<int>> allowed = SystemKernel::allowed_cpus();
    if (allowed.ok()) cpus = std::move(allowed).value();
  }
  // Copied before the first thread: a frontend whose copy throws has started nothing.
  std::vector<RunWorker> copies;
  for (int id = 0; id < request.num_workers; ++id) copies.push_back(request.make_worker());
  for (int id = 0; id < request.num_workers; ++id) {
    core.start_worker(std::move(copies[static_cast<std::size_t>(id)]), cpu_for_worker(cpus, id));
  }
}

}  // namespace

Shared<SchedulerCore> start_core(StartRequest request) {
  validate(request);
  std::string policy_report;
  const HandoffPolicy policy = policy_of(request, policy_report);
  auto shared = share<WorkerShared>(policy, request.num_workers, request.options.serving);
  if (!policy_report.empty()) shared->report(policy_report);
  const bool one_for_all = use_shared_listener(request, *shared);
  std::vector<SocketAddress> addresses = bind_all(request, *shared, one_for_all);
  for (int id = 0; id < request.num_workers; ++id) {
    shared->wakers.push_back(share<Waker>());
    shared->stats.push_back(share<WorkerStats>());
  }
  auto group = share<WorkerGroup>(std::move(shared));
  auto core = share<SchedulerCore>(group, std::move(addresses), one_for_all ? "shared" : "per-worker");
  start_threads(request, *core);  // when it throws, the core's destructor stops what was started
  return core;
}

}  // namespace flare::inline FLARE_ABI::detail
