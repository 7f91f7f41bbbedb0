#include "flare/scheduler/scheduler.h"

#include <utility>

#include "flare/base/sync.h"
#include "flare/kernel/system_kernel.h"
#include "flare/scheduler/scheduler_core.h"

namespace flare::inline FLARE_ABI::detail {

SchedulerHandle::SchedulerHandle() = default;
SchedulerHandle::SchedulerHandle(Shared<SchedulerCore> core) : core_(std::move(core)) {}
SchedulerHandle::SchedulerHandle(SchedulerHandle&& other) noexcept : core_(std::move(other.core_)) {}

SchedulerHandle& SchedulerHandle::operator=(SchedulerHandle&& other) {
  if (this != &other) {
    shutdown();
    core_ = std::move(other.core_);
  }
  return *this;
}

// Shutting down throws on a worker's own thread only; there it must end the process, since nothing could be joined.
SchedulerHandle::~SchedulerHandle() {
  shutdown();
}

void SchedulerHandle::request_stop() noexcept {
  if (core_ != nullptr) core_->request_stop();
}

void SchedulerHandle::wait() {
  if (core_ != nullptr) core_->wait();
}

void SchedulerHandle::shutdown() {
  if (core_ != nullptr) static_cast<void>(core_->stop(MonoTime::min(), /*may_detach=*/false));
}

std::vector<ShutdownReport> SchedulerHandle::drain(int timeout_ms) {
  if (core_ == nullptr) return {};
  if (timeout_ms <= 0) return core_->stop(MonoTime::min(), /*may_detach=*/FLARE_MUTANT(kDrainZeroDetaches));
  const MonoTime deadline = saturating_add(SystemKernel::now(), std::chrono::milliseconds(timeout_ms));
  return core_->stop(deadline, /*may_detach=*/true);
}

bool SchedulerHandle::is_running() const {
  return core_ != nullptr && core_->is_running();
}

int SchedulerHandle::crashed_worker_count() const {
  return core_ == nullptr ? 0 : core_->crashed_count();
}

int SchedulerHandle::worker_count() const {
  return core_ == nullptr ? 0 : core_->worker_count();
}

std::vector<WorkerSnapshot> SchedulerHandle::stats() const {
  return core_ == nullptr ? std::vector<WorkerSnapshot>{} : core_->stats();
}

std::vector<SocketAddress> SchedulerHandle::addresses() const {
  return core_ == nullptr ? std::vector<SocketAddress>{} : core_->addresses();
}

std::string SchedulerHandle::strategy_name() const {
  return core_ == nullptr ? std::string{} : core_->strategy();
}

HandoffPolicy SchedulerHandle::policy() const {
  return core_ == nullptr ? HandoffPolicy{} : core_->policy();
}

}  // namespace flare::inline FLARE_ABI::detail
