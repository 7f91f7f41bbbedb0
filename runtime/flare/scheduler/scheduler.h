// scheduler.h: N workers, one frontend: start, stop, drain, report.                   Public header.
// Threads:    start, wait, drain, shutdown: any thread but a worker's own (refused: NetworkError(EDEADLK)).
//             request_stop: any thread and a signal handler. The rest: any thread. Moving: no other call at
//             the same time.
// Owns:       threads, listeners, cells. The destructor shuts down.
// Bounds:     1..256 workers; drain returns at its timeout plus limits::kJoinGrace at the latest.
// Errors:     start undoes all and throws NetworkError, std::bad_alloc where memory ran out, or what the frontend's
//             copy threw. A stop needs no memory. A default-constructed, moved-from or stopped Scheduler accepts every
//             call: not running, no reports.
// Ordering:   what a worker did is visible after the drain or shutdown that joined it.
// Invariants: INV-11, INV-12, INV-13, INV-14, INV-15, INV-16.
// Not here:   the loop (worker/), protocols (http/).
// Source:     seeds, flare.runtime.scheduler.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flare/base/abi.h"
#include "flare/handoff/handoff_policy.h"
#include "flare/net/listener.h"
#include "flare/net/socket_address.h"
#include "flare/scheduler/frontend.h"
#include "flare/scheduler/shutdown_report.h"
#include "flare/worker/serving_options.h"
#include "flare/worker/worker_stats.h"

namespace flare::inline FLARE_ABI {

enum class ListenerStrategy {
  kFromEnvironment,  // FLARE_REUSEPORT_WORKERS=0: shared; else per worker
  kPerWorker,        // SO_REUSEPORT, one listener per worker
  kShared,           // one listener, EPOLLEXCLUSIVE
};

struct SchedulerOptions {
  std::optional<HandoffPolicy> policy;  // unset: HandoffPolicy::from_env({})
  ListenerStrategy strategy = ListenerStrategy::kFromEnvironment;
  ListenerOptions listener;
  ServingOptions serving;
};

// min(allowed CPUs, cgroup quota rounded up), 1..256.
int default_worker_count();

namespace detail {
using RunWorker = std::function<void(WorkerContext&)>;
class SchedulerCore;  // everything that does not depend on the frontend's type
struct StartRequest {
  SocketAddress address;
  std::vector<SocketAddress> extra_addresses;
  int num_workers;
  bool pin_cores;
  bool requires_per_worker_listener;
  SchedulerOptions options;
  std::function<RunWorker()> make_worker;  // called once per worker on the control thread
};
Shared<SchedulerCore> start_core(StartRequest request);

// The part of Scheduler that is compiled once.
class SchedulerHandle {
 public:
  SchedulerHandle();
  explicit SchedulerHandle(Shared<SchedulerCore> core);
  SchedulerHandle(SchedulerHandle&& other) noexcept;
  SchedulerHandle& operator=(SchedulerHandle&& other);  // shuts down what it held
  ~SchedulerHandle();

  // Workers drain (without a deadline yet) and wait() returns; called again, what is left is cut.
  void request_stop() noexcept;
  // Until request_stop was called, another thread stopped it, or no worker is left.
  void wait();
  // Cuts at once and joins every worker, a stuck one too. Idempotent.
  void shutdown();
  // Lame duck until timeout_ms from now, then cut; a worker that is still stuck is detached. timeout_ms <= 0
  // is shutdown(). One report per worker to the first caller, an empty list to the others.
  std::vector<ShutdownReport> drain(int timeout_ms);

  bool is_running() const;           // a worker has not returned
  int crashed_worker_count() const;  // live
  int worker_count() const;
  std::vector<WorkerSnapshot> stats() const;     // one per worker, live; after the stop the last ones
  std::vector<SocketAddress> addresses() const;  // where it is really bound, the first address first
  std::string strategy_name() const;             // "per-worker" or "shared"
  HandoffPolicy policy() const;                  // what is in force

 private:
  Shared<SchedulerCore> core_;
};
}  // namespace detail

template <Frontend F>
class Scheduler : public detail::SchedulerHandle {
 public:
  Scheduler() = default;

  // Binds addr (port 0: resolved once) and extra_addrs, then starts num_workers (1..256) threads; worker N is
  // pinned to the N-th allowed CPU, modulo their number (a thread that its handler starts inherits that one CPU, and so
  // does a second Scheduler). A failure at any step undoes all and throws, see above.
  static Scheduler start(const SocketAddress& addr, F frontend, int num_workers, bool pin_cores = true,
                         std::vector<SocketAddress> extra_addrs = {}, SchedulerOptions options = {}) {
    const bool per_worker = frontend.requires_per_worker_listener();
    return Scheduler(detail::start_core({addr, std::move(extra_addrs), num_workers, pin_cores, per_worker,
                                         std::move(options), [&frontend]() -> detail::RunWorker {
                                           return [copy = F(frontend)](WorkerContext& context) mutable {
                                             copy.run_worker(context);
                                           };
                                         }}));
  }

 private:
  explicit Scheduler(Shared<detail::SchedulerCore> core) : detail::SchedulerHandle(std::move(core)) {}
};

}  // namespace flare::inline FLARE_ABI
