#include "flare/worker/worker_stats.h"

namespace flare::inline FLARE_ABI {

void WorkerStats::set_crashed(std::string_view text) noexcept {
  const MutexLock lock(mutex_);
  error_size_ = text.copy(error_.data(), error_.size());
  crashed_.store(true, std::memory_order_release);
}

std::string WorkerStats::error() const {
  std::string text;
  copy_error(text);
  return text;
}

void WorkerStats::copy_error(std::string& to) const {
  const MutexLock lock(mutex_);
  to.assign(error_.data(), error_size_);
}

}  // namespace flare::inline FLARE_ABI
