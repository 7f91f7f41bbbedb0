// chunk_decoder.h: takes the chunk framing out of a body, in place.  Internal.
// Threads:    its owner.
// Owns:       nothing; the bytes stay with the caller.
// Bounds:     body: what decode is given. Size digits, extensions and trailers: http_limits.
// Errors:     a status to refuse with; then it stays refused.
// Ordering:   none.
// Invariants: what it says depends on the bytes alone, never on how they were split.
// Not here:   the head. llhttp could decode too, but as Debian builds it, it skips the two bytes after a chunk unseen.
// Source:     RFC 9112 section 7.1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

class ChunkDecoder {
 public:
  enum class Result : std::uint8_t { kNeedMore, kComplete, kRefused };

  // Reads raw bytes of data from `read` up to size and moves content down to `write` (write <= read); both advance.
  // kNeedMore: all raw bytes were read. kComplete: read stands behind the message.
  Result decode(char* data, std::size_t size, std::size_t& read, std::size_t& write, std::size_t max_body);
  int status() const { return status_; }

 private:
  enum class State : std::uint8_t {
    kSizeStart,
    kSize,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailerName,
    kTrailerValue,
    kTrailerLf,
    kEndLf,
    kComplete,
    kRefused,
  };

  bool step(char c, std::size_t max_body);
  bool trailer_step(char c);
  bool size_digit(char c);
  bool size_ended(State next, std::size_t max_body);
  bool go(State next) {
    state_ = next;
    return true;
  }
  bool refuse(int status) {
    status_ = static_cast<std::uint16_t>(status);
    state_ = State::kRefused;
    return false;
  }

  std::uint64_t left_ = 0;   // of the chunk being read
  std::uint64_t total_ = 0;  // of all chunks begun
  std::uint32_t extension_ = 0;
  std::uint32_t trailer_ = 0;
  std::uint16_t status_ = 0;
  State state_ = State::kSizeStart;
  std::uint8_t digits_ = 0;
};

}  // namespace flare::inline FLARE_ABI
