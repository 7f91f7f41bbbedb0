// unique_fd.h: the one owner of a descriptor.                                         Public header.
// Threads:    one owner at a time; moving it hands the ownership on.
// Owns:       the descriptor; the destructor closes it once and never retries.
// Bounds:     none.
// Errors:     none. A close that fails with EBADF is a bug and aborts (kernel/system_kernel.cpp).
// Ordering:   none.
// Invariants: INV-04.
// Not here:   the system call (close_fd is defined in kernel/).
// Source:     own design.
#pragma once

#include <utility>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

// Any thread that owns fd. Closes it once; -1 is ignored. Defined in kernel/, behind the door.
void close_fd(int fd) noexcept;

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const noexcept { return fd_; }
  bool valid() const noexcept { return fd_ >= 0; }
  // Gives the descriptor away; the caller closes it.
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept {
    const int old = std::exchange(fd_, fd);
    if (old >= 0) close_fd(old);
  }

 private:
  int fd_ = -1;
};

}  // namespace flare::inline FLARE_ABI
