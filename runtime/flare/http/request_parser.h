// request_parser.h: what a complete request head means: llhttp's reading of it, and our refusals on top.  Internal.
// Threads:    any; a pure function of its arguments.
// Owns:       nothing; the request's views point into the head.
// Bounds:     HttpConfig::max_body_bytes; the head's own bounds were checked by HeadScanner.
// Errors:     a status to refuse with.
// Ordering:   none.
// Invariants: a head that another server could frame differently is refused: two lengths, a length beside a transfer
//             coding, a coding that is not exactly "chunked", a second or missing Host.
// Not here:   line ends and byte classes (head_scanner.h), bodies (request_reader.h), the usual head in one pass
//             (plain_head.h).
// Source:     RFC 9110, RFC 9112; llhttp 8.
#pragma once

#include <cstdint>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/http/http_config.h"
#include "flare/http/http_handler.h"

namespace flare::inline FLARE_ABI {

// How the message goes on after its head, and how its answer is framed.
struct HeadInfo {
  std::uint64_t content_length = 0;
  bool chunked = false;
  bool keep_alive = false;
  bool expects_continue = false;
  bool is_head = false;  // HEAD
  std::uint8_t version_minor = 1;
};

// head: from the request line to the empty line, as HeadScanner found it. Fills request's method, target,
// version_minor and headers. 0, or the status to refuse with.
int parse_head(std::string_view head, int version_minor, const HttpConfig& config, HttpRequest& request,
               HeadInfo& info);

// The second half of parse_head: what method, target, version_minor and headers, as they came, mean. It trims values
// and leaves of an absolute target the path. 0, or the status to refuse with.
int judge_head(const HttpConfig& config, HttpRequest& request, HeadInfo& info);

}  // namespace flare::inline FLARE_ABI
