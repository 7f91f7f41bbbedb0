// error_reporter.h: one line to the embedder's sink, or to stderr, at most so many a second.   Internal.
// Threads:    any.
// Owns:       the sink's copy.
// Bounds:     limits::kReportsPerSecond lines to stderr in a second; what was left out is said with the next line. An
//             embedder's sink gets every line.
// Errors:     none; what a sink throws is swallowed.
// Ordering:   none.
// Invariants: the mutex is a leaf: the sink is called without it.
// Not here:   what is worth a line.
// Source:     own design (decision 4).
#pragma once

#include <cstdint>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/base/sync.h"
#include "flare/base/time.h"
#include "flare/worker/serving_options.h"

namespace flare::inline FLARE_ABI {

class ErrorReporter {
 public:
  explicit ErrorReporter(ErrorSink sink) : sink_(std::move(sink)) {}
  void report(std::string_view line) noexcept FLARE_EXCLUDES(mutex_);

 private:
  const ErrorSink sink_;
  Mutex mutex_;
  MonoTime window_start_ FLARE_GUARDED_BY(mutex_){};
  int in_window_ FLARE_GUARDED_BY(mutex_) = 0;
  std::uint64_t left_out_ FLARE_GUARDED_BY(mutex_) = 0;
};

}  // namespace flare::inline FLARE_ABI
