// stream_end.h: how a client saw its stream end.
#pragma once

namespace flare::testing {

// kOpen: it did not, within the deadline.
enum class StreamEnd { kEof, kReset, kOpen };

}  // namespace flare::testing
