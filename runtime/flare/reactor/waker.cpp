#include "flare/reactor/waker.h"

#include <cerrno>

#include "flare/base/network_error.h"
#include "flare/kernel/system_kernel.h"

namespace flare::inline FLARE_ABI {

Waker::Waker() {
  const Result<int> opened = SystemKernel::wake_open();
  if (!opened.ok()) throw NetworkError(opened.error(), "Waker", "opening a wake descriptor");
  fd_.reset(opened.value());
}

void Waker::wake() const noexcept {
  // A full counter (EAGAIN) is a wake that stands already; only an interrupted call has done nothing.
  while (SystemKernel::wake_signal(fd_.get()).error == EINTR) {
  }
}

void Waker::clear() const noexcept {
  while (SystemKernel::wake_clear(fd_.get()).error == EINTR) {
  }
}

}  // namespace flare::inline FLARE_ABI
