// body_stream.h: the rest of an answer whose body comes by callback.  Internal.
// Threads:    one worker.
// Owns:       the BodySource.
// Bounds:     http_limits::kSourceBytes per pull.
// Errors:     pull throws what the source throws, and std::runtime_error when the source breaks its own promise.
// Ordering:   none.
// Invariants: a source is asked again only when its owner calls pull again.
// Not here:   when to pull (http_connection.h).
// Source:     own design.
#pragma once

#include <cstdint>
#include <string>

#include "flare/base/abi.h"
#include "flare/http/http_handler.h"
#include "flare/http/response_writer.h"

namespace flare::inline FLARE_ABI {

class BodyStream {
 public:
  BodyStream(BodySource source, BodyFraming framing, std::uint64_t length);
  // Appends one framed piece to out. False: that was the end.
  bool pull(std::string& out);

 private:
  BodySource source_;
  BodyFraming framing_;
  std::uint64_t left_;  // kLength: bytes still promised
};

}  // namespace flare::inline FLARE_ABI
