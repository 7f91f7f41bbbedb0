#include "flare/worker/error_reporter.h"

#include <string>
#include <utility>

#include "flare/base/limits.h"
#include "flare/kernel/system_kernel.h"

namespace flare::inline FLARE_ABI {

void ErrorReporter::report(std::string_view line) noexcept {
  try {
    if (sink_) {
      sink_(line);
      return;
    }
    std::uint64_t left_out = 0;
    {
      const MonoTime now = SystemKernel::now();
      const MutexLock lock(mutex_);
      if (now - window_start_ >= std::chrono::seconds(1)) {
        window_start_ = now;
        in_window_ = 0;
      }
      if (in_window_ >= limits::kReportsPerSecond) {
        ++left_out_;
        return;
      }
      ++in_window_;
      left_out = std::exchange(left_out_, 0);
    }
    std::string text = "flare: ";
    text += line;
    if (left_out > 0) text += " (" + std::to_string(left_out) + " lines left out before this one)";
    text += '\n';
    SystemKernel::write_error(text.data(), text.size());
  } catch (...) {
    // Saying what went wrong must never make it worse.
  }
}

}  // namespace flare::inline FLARE_ABI
