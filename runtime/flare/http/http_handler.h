// http_handler.h: what a handler gets and gives.                                      Public header.
// Threads:    a handler is called on the worker that owns the connection; each worker has its own copy of it. Data that
//             copies share is the embedder's to protect.
// Owns:       every view of a request (target, header, body) is valid until the handler returns. A response owns its
//             strings; a BodySource lives until the body was sent or the connection ended.
// Bounds:     the request is within HttpConfig by the time the handler sees it; its body is whole.
// Errors:     a throw before anything of the answer was sent is answered with 500 (the text stays in the process), a
//             later one of a BodySource cuts the connection. A response that can't be sent is a 500 too: a status
//             outside 200..999, a bad header, a header that is not the handler's. All are counted (handler_errors).
// Ordering:   a handler answers before it returns; requests of one connection are answered in order.
// Invariants: INV-21.
// Not here:   parsing and framing (http_connection.h): a handler never sets Content-Length, Transfer-Encoding,
//             Connection or Date.
// Source:     own design; seeds, flare.runtime.scheduler (HttpFrontend).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "flare/base/abi.h"
#include "flare/net/socket_address.h"

namespace flare::inline FLARE_ABI {

struct HttpHeader {
  std::string_view name;
  std::string_view value;
};

struct HttpRequest {
  std::string_view method;  // "GET", as sent
  std::string_view target;  // origin form: path and query; an absolute target's path
  int version_minor = 1;    // HTTP/1.0 or 1.1
  std::vector<HttpHeader> headers;
  std::string_view body;                // de-chunked
  int worker = 0;                       // the worker that serves
  int accepted_by = 0;                  // the worker that accepted
  std::function<SocketAddress()> peer;  // asks the system at the first call; throws NetworkError if that fails

  // The first header of that name, without regard to case; empty if there is none.
  std::string_view header(std::string_view name) const;
};

// Fills at most size bytes into data and returns how many; 0 ends the body. Called again when the peer has
// taken what was given (back-pressure): never more than one buffer ahead.
using BodySource = std::function<std::size_t(char* data, std::size_t size)>;

struct HttpResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  // bad names or values (CR, LF, NUL) turn it into a 500
  std::string body;
  BodySource source;                // used instead of body when set
  std::int64_t source_length = -1;  // of source; -1: unknown, sent chunked (HTTP/1.0: until close)
  bool close = false;               // end the connection after this answer
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

}  // namespace flare::inline FLARE_ABI
