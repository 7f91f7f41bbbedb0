// network_error.h: what flare throws when the system or a caller makes a call impossible.   Public header.
// Threads:    a value type.
// Owns:       its text.
// Bounds:     none.
// Errors:     is one. code() holds the errno, operation() the call, what() both and the value that was refused.
// Ordering:   none.
// Invariants: none.
// Not here:   would-block, full and empty: those are values, never exceptions (base/result.h).
// Source:     seeds, "Raises NetworkError".
#pragma once

#include <string>
#include <system_error>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

class NetworkError : public std::system_error {
 public:
  // error: an errno value. operation: the call or method. detail: the value and what was expected; may be empty.
  NetworkError(int error, const std::string& operation, const std::string& detail = {})
      : std::system_error(error, std::generic_category(), detail.empty() ? operation : operation + ": " + detail),
        operation_(operation) {}

  const std::string& operation() const noexcept { return operation_; }

 private:
  std::string operation_;
};

}  // namespace flare::inline FLARE_ABI
