#include "flare/http/response_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "flare/http/http_text.h"

namespace flare::inline FLARE_ABI {

namespace {

constexpr std::array<std::pair<int, std::string_view>, 44> kReasons{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
}};

void append_number(std::string& out, std::uint64_t value) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_status_line(std::string& out, int status) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::uint64_t>(status));
  out += ' ';
  out += reason_phrase(status);
  out += "\r\nDate: ";
}

void append_length(std::string& out, std::uint64_t length) {
  out += "\r\nContent-Length: ";
  append_number(out, length);
}

void append_headers(std::string& out, const HttpResponse& response) {
  for (const auto& [name, value] : response.headers) {
    out += "\r\n";
    out += name;
    out += ": ";
    out += value;
  }
}

// From the end of the last header line to the empty line.
void append_tail(std::string& out, const AnswerContext& context) {
  if (context.accepted_by >= 0) {
    out += "\r\nX-Flare-Accepted-By: ";
    append_number(out, static_cast<std::uint64_t>(context.accepted_by));
    out += "\r\nX-Flare-Worker: ";
    append_number(out, static_cast<std::uint64_t>(context.worker));
  }
  if (context.close) {
    out += "\r\nConnection: close";
  } else if (context.version_minor == 0) {
    out += "\r\nConnection: keep-alive";
  }
  out += "\r\n\r\n";
}

bool has_no_body(int status) {
  return status == 204 || status == 304;
}

bool is_ours(std::string_view name) {
  return http_text::same(name, "content-length") || http_text::same(name, "transfer-encoding") ||
         http_text::same(name, "connection") || http_text::same(name, "date");
}

}  // namespace

std::string_view reason_phrase(int status) {
  const auto found = std::lower_bound(kReasons.begin(), kReasons.end(), status,
                                      [](const auto& entry, int wanted) { return entry.first < wanted; });
  return found != kReasons.end() && found->first == status ? found->second : std::string_view("Unknown");
}

const char* check_response(const HttpResponse& response) {
  if (response.status < 200 || response.status > 999) return "a status outside 200..999";
  for (const auto& [name, value] : response.headers) {
    if (name.empty() || !http_text::all(name, http_text::kToken)) return "a header name that is no token";
    if (!http_text::all(value, http_text::kValue)) return "a header value with a control byte";
    if (is_ours(name)) return "Content-Length, Transfer-Encoding, Connection or Date set by the handler";
  }
  return nullptr;
}

bool sends_body(int status, const AnswerContext& context) {
  return !context.to_head && !has_no_body(status);
}

BodyFraming framing_of(const HttpResponse& response, std::uint8_t version_minor) {
  if (has_no_body(response.status)) return BodyFraming::kNone;
  if (!response.source || response.source_length >= 0) return BodyFraming::kLength;
  return version_minor == 0 ? BodyFraming::kUntilClose : BodyFraming::kChunked;
}

void append_head(std::string& out, const HttpResponse& response, const AnswerContext& context) {
  append_status_line(out, response.status);
  out += context.date;
  const BodyFraming framing = framing_of(response, context.version_minor);
  if (framing == BodyFraming::kLength) {
    append_length(out, response.source ? static_cast<std::uint64_t>(response.source_length) : response.body.size());
  } else if (framing == BodyFraming::kChunked) {
    out += "\r\nTransfer-Encoding: chunked";
  }
  append_headers(out, response);
  append_tail(out, context);
}

void append_plain(std::string& out, int status, const AnswerContext& context) {
  HttpResponse response;
  response.status = status;
  response.body = std::string(reason_phrase(status)) + "\n";
  response.headers.emplace_back("Content-Type", "text/plain");
  append_head(out, response, context);
  if (sends_body(status, context)) out += response.body;
}

StaticAnswer::StaticAnswer(HttpResponse response)
    : response_(std::move(response)), has_body_(!has_no_body(response_.status)) {
  append_status_line(before_date_, response_.status);
  if (has_body_) append_length(after_date_, response_.body.size());
  append_headers(after_date_, response_);
}

void StaticAnswer::append(std::string& out, const AnswerContext& context) const {
  out += before_date_;
  out += context.date;
  out += after_date_;
  append_tail(out, context);
  if (has_body_ && !context.to_head) out += response_.body;
}

}  // namespace flare::inline FLARE_ABI
