#include "flare/kernel/system_kernel.h"

#include <cerrno>

#include "flare/base/assert.h"
#include "flare/base/unique_fd.h"

namespace flare::inline FLARE_ABI {

void close_fd(int fd) noexcept {
  if (fd < 0) return;
  // One try: the number is free even after EINTR, a second close could hit whoever got it meanwhile. Other errors
  // report lost data of files, which nobody here writes.
  const Status status = SystemKernel::close(fd);
  FLARE_ASSERT(status.error != EBADF, "a descriptor was closed twice, or by someone who did not own it");
}

}  // namespace flare::inline FLARE_ABI
