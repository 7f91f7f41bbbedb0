// result.h: a value, or the error number of the call that did not give one.           Public header.
// Threads:    a value type; no sharing.
// Owns:       its value.
// Bounds:     none.
// Errors:     reading the value of a failed result aborts, and so does a failure without an error number.
// Ordering:   none.
// Invariants: errno never crosses the door to the system: the kernel captures it into a Result right after the call.
// Not here:   exceptions (base/network_error.h).
// Source:     own design.
#pragma once

#include <utility>

#include "flare/base/abi.h"
#include "flare/base/assert.h"

namespace flare::inline FLARE_ABI {

// An error number as <cerrno> names it; 0 is success.
struct [[nodiscard]] Status {
  int error = 0;
  bool ok() const { return error == 0; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  static Result failure(int error) { return Result(Failure{error}); }

  bool ok() const { return error_ == 0; }
  int error() const { return error_; }
  const T& value() const& {
    FLARE_ASSERT(error_ == 0, "value() of a failed Result");
    return value_;
  }
  T&& value() && {
    FLARE_ASSERT(error_ == 0, "value() of a failed Result");
    return std::move(value_);
  }

 private:
  struct Failure {
    int error;
  };
  explicit Result(Failure failure) : value_(), error_(failure.error) {
    FLARE_ASSERT(error_ != 0, "a failure needs an error number");
  }

  T value_;
  int error_ = 0;
};

}  // namespace flare::inline FLARE_ABI
