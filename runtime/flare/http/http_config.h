// http_config.h: limits and deadlines of HTTP connections.                            Public header.
// Threads:    a value type.
// Owns:       nothing.
// Bounds:     each field says its unit; validate() refuses values below 1 (0 where it says so).
// Errors:     validate throws NetworkError(EINVAL) that names field and value.
// Ordering:   none.
// Invariants: none.
// Not here:   connection caps and backlog (worker/serving_options.h, net/listener.h).
// Source:     own design.
#pragma once

#include <chrono>
#include <cstddef>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

struct HttpConfig {
  std::size_t max_head_bytes = 16 << 10;   // request line and headers: 431, or 414 when the target alone is too long
  std::size_t max_target_bytes = 8 << 10;  // 414
  std::size_t max_headers = 100;           // 431
  std::size_t max_body_bytes = 1 << 20;    // 413; 0: no body at all
  std::chrono::milliseconds head_deadline{10'000};   // absolute, from the first byte (a new connection: from accept)
  std::chrono::milliseconds body_deadline{10'000};   // without progress
  std::chrono::milliseconds idle_deadline{60'000};   // between requests
  std::chrono::milliseconds write_deadline{10'000};  // without progress
  bool worker_headers = false;                       // X-Flare-Accepted-By, X-Flare-Worker in every answer

  void validate() const;
};

// Bounds that no embedder sets.
namespace http_limits {
inline constexpr int kRequestsPerTurn = 64;                   // answered in one turn of a connection
inline constexpr std::size_t kBatchBytes = 256 << 10;         // of answers gathered in one turn; then they are sent
inline constexpr std::size_t kSourceBytes = 16 << 10;         // asked of a BodySource at once
inline constexpr int kPullsPerTurn = 16;                      // of a BodySource in one turn
inline constexpr std::size_t kChunkExtensionBytes = 4 << 10;  // in one message: 400
inline constexpr std::size_t kTrailerBytes = 8 << 10;         // in one message: 431
inline constexpr int kChunkSizeDigits = 16;                   // hexadecimal: 400
}  // namespace http_limits

}  // namespace flare::inline FLARE_ABI
