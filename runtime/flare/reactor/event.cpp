#include "flare/reactor/event.h"

#include "flare/kernel/kernel.h"

namespace flare::inline FLARE_ABI {

bool Event::is_readable() const {
  // The end of the stream is read too, and a pipe whose writer is gone says nothing but "hung up".
  return (bits_ & (kReadable | kReadHangup | kHangup)) != 0;
}

bool Event::is_writable() const {
  return (bits_ & kWritable) != 0;
}

bool Event::is_error() const {
  return (bits_ & kErrorBit) != 0;
}

bool Event::is_hup() const {
  return (bits_ & (kHangup | kReadHangup)) != 0;
}

}  // namespace flare::inline FLARE_ABI
