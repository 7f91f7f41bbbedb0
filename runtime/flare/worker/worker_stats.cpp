#include "flare/worker/worker_stats.h"

#include <utility>

namespace flare::inline FLARE_ABI {

namespace {
constexpr std::size_t kMaxErrorText = 512;
}  // namespace

void WorkerStats::set_crashed(std::string text) {
  if (text.size() > kMaxErrorText) text.resize(kMaxErrorText);
  const MutexLock lock(mutex_);
  error_ = std::move(text);
  crashed_.store(true, std::memory_order_release);
}

std::string WorkerStats::error() const {
  const MutexLock lock(mutex_);
  return error_;
}

}  // namespace flare::inline FLARE_ABI
