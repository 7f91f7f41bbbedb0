// response_writer.h: answers as bytes: status line, Date, framing, headers.  Internal.
// Threads:    any; pure functions of their arguments.
// Owns:       nothing; bytes are appended to the caller's buffer.
// Bounds:     none.
// Errors:     check_response says what is wrong with a handler's answer; nothing bad is ever written.
// Ordering:   none.
// Invariants: HEAD, 204 and 304 carry no body bytes; every other answer has one framing that its client can read.
// Not here:   sending (http_connection.h).
// Source:     RFC 9110, RFC 9112 section 6.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/http/http_handler.h"

namespace flare::inline FLARE_ABI {

enum class BodyFraming : std::uint8_t { kNone, kLength, kChunked, kUntilClose };

// What of the request and the connection goes into the answer's head.
struct AnswerContext {
  std::string_view date;
  bool to_head = false;            // the request was HEAD
  std::uint8_t version_minor = 1;  // of the request
  bool close = false;              // the last answer on this connection
  int accepted_by = -1;            // -1: no headers that name workers
  int worker = -1;
};

std::string_view reason_phrase(int status);

// Null, or what the handler did that can't be sent: an interim or impossible status, a bad header, a framing header.
const char* check_response(const HttpResponse& response);

// The body bytes that follow the head: none for HEAD, 204, 304.
bool sends_body(int status, const AnswerContext& context);

// For a request of HTTP/1.version_minor. kUntilClose needs a last answer.
BodyFraming framing_of(const HttpResponse& response, std::uint8_t version_minor);

// From the status line to the empty line.
void append_head(std::string& out, const HttpResponse& response, const AnswerContext& context);

// A whole answer of ours: the reason phrase as its body.
void append_plain(std::string& out, int status, const AnswerContext& context);

// One answer whose text is the same for every request but for Date, Connection and the workers' ids.
class StaticAnswer {
 public:
  explicit StaticAnswer(HttpResponse response);
  bool close() const { return response_.close; }
  void append(std::string& out, const AnswerContext& context) const;

 private:
  HttpResponse response_;
  std::string before_date_;
  std::string after_date_;
  bool has_body_;
};

}  // namespace flare::inline FLARE_ABI
