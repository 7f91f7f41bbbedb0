// plain_head.h: a request head of the usual kind in one pass, where it stands whole.                  Internal.
// Threads:    any; a pure function of its arguments.
// Owns:       nothing; the request's views point into the data.
// Bounds:     HttpConfig: head, target, number of headers. Looks at no byte more than twice.
// Errors:     none: what it does not take, whatever the reason, is HeadScanner's and llhttp's to read or to refuse.
// Ordering:   none.
// Invariants: what it takes, HeadScanner and llhttp take too, with the same end, and judge_head then makes the same of
//             it (tests/fuzz/fuzz_plain_head.cpp).
// Not here:   what the headers mean (request_parser.h), refusals (head_scanner.h, request_parser.h).
// Source:     RFC 9112 sections 3 and 5; decision 26 in docs/decisions.md.
#pragma once

#include <cstddef>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/http/http_config.h"
#include "flare/http/http_handler.h"

namespace flare::inline FLARE_ABI {

// Returns where the head ends and fills request's method, target, version_minor and headers, whose values are as they
// came; judge_head goes on. 0: not a plain one, or not whole; then the request is anything.
std::size_t read_plain_head(std::string_view data, const HttpConfig& config, HttpRequest& request);

}  // namespace flare::inline FLARE_ABI
