#include "flare/http/request_parser.h"

#include <llhttp.h>

#include "flare/http/http_text.h"

namespace flare::inline FLARE_ABI {

namespace {

// What llhttp's callbacks fill. The head is one piece of memory, so the parts of a span lie side by side.
struct Spans {
  HttpRequest& request;
  bool in_value = true;  // the next name begins a new header
};

void extend(std::string_view& view, const char* at, std::size_t length) {
  view = view.empty() ? std::string_view(at, length)
                      : std::string_view(view.data(), static_cast<std::size_t>(at - view.data()) + length);
}

Spans& spans(llhttp_t* parser) {
  return *static_cast<Spans*>(parser->data);
}

int on_method(llhttp_t* parser, const char* at, std::size_t length) {
  extend(spans(parser).request.method, at, length);
  return 0;
}
int on_target(llhttp_t* parser, const char* at, std::size_t length) {
  extend(spans(parser).request.target, at, length);
  return 0;
}
int on_name(llhttp_t* parser, const char* at, std::size_t length) {
  Spans& to = spans(parser);
  if (to.in_value) to.request.headers.push_back({});
  to.in_value = false;
  extend(to.request.headers.back().name, at, length);
  return 0;
}
int on_value(llhttp_t* parser, const char* at, std::size_t length) {
  Spans& to = spans(parser);
  to.in_value = true;
  extend(to.request.headers.back().value, at, length);
  return 0;
}
int on_head_complete(llhttp_t*) {
  return HPE_PAUSED;
}

constexpr llhttp_settings_t make_settings() {
  llhttp_settings_t settings{};
  settings.on_method = on_method;
  settings.on_url = on_target;
  settings.on_header_field = on_name;
  settings.on_header_value = on_value;
  settings.on_headers_complete = on_head_complete;
  return settings;
}
constexpr llhttp_settings_t kSettings = make_settings();

// What the headers say, gathered before it is judged.
struct Seen {
  int hosts = 0;
  int lengths = 0;
  int codings = 0;
  bool close = false;
  bool keep_alive = false;
  bool unknown_expectation = false;
  std::string_view coding;
  std::string_view length;
};

int read_target(HttpRequest& request) {
  std::string_view& target = request.target;
  if (target.find('#') != std::string_view::npos) return 400;
  if (target.front() == '/') return 0;
  if (target == "*") return request.method == "OPTIONS" ? 0 : 400;
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return 400;
  if (!http_text::same(target.substr(0, scheme), "http") && !http_text::same(target.substr(0, scheme), "https")) {
    return 400;
  }
  const std::string_view rest = target.substr(scheme + 3);
  const std::size_t path = rest.find_first_of("/?");
  const std::string_view authority = rest.substr(0, path);
  if (authority.empty() || !http_text::all(authority, http_text::kHost)) return 400;
  if (path == std::string_view::npos) {
    target = "/";
    return 0;
  }
  if (rest[path] == '?') return 400;  // its path is empty, and no view can show "/?"
  target = rest.substr(path);
  return 0;
}

void read_connection(std::string_view list, Seen& seen) {
  while (!list.empty()) {
    const std::string_view element = http_text::next_element(list);
    if (http_text::same(element, "close")) seen.close = true;
    if (http_text::same(element, "keep-alive")) seen.keep_alive = true;
  }
}

int read_header(const HttpHeader& header, Seen& seen, HeadInfo& info) {
  const std::string_view name = header.name;
  switch (name.size()) {
    case 4:
      if (!http_text::same(name, "host")) break;
      ++seen.hosts;
      return http_text::all(header.value, http_text::kHost) ? 0 : 400;
    case 6:
      if (!http_text::same(name, "expect")) break;
      if (!http_text::same(header.value, "100-continue")) seen.unknown_expectation = true;
      info.expects_continue = info.version_minor >= 1;  // HTTP/1.0 knows no 100
      break;
    case 10:
      if (http_text::same(name, "connection")) read_connection(header.value, seen);
      break;
    case 14:
      if (!http_text::same(name, "content-length")) break;
      ++seen.lengths;
      seen.length = header.value;
      break;
    case 17:
      if (!http_text::same(name, "transfer-encoding")) break;
      ++seen.codings;
      seen.coding = header.value;
      break;
    default:
      break;
  }
  return 0;
}

// One coding, and that is chunked. A list in which chunked is not last is malformed, another coding is unknown.
int read_coding(std::string_view list) {
  if (http_text::same(list, "chunked")) return 0;
  if (list.empty() || list.back() == ',') return 400;
  bool chunked_before = false;
  while (!list.empty()) {
    const std::string_view element = http_text::next_element(list);
    if (chunked_before || element.empty()) return 400;
    const std::string_view coding = http_text::trim(element.substr(0, element.find(';')));
    if (!http_text::all(coding, http_text::kToken) || coding.empty()) return 400;
    chunked_before = http_text::same(coding, "chunked");
    if (chunked_before && element.size() != coding.size()) return 400;  // chunked takes no parameter
  }
  return 501;
}

int read_length(std::string_view text, HeadInfo& info) {
  if (text.empty() || text.size() > 18) return 400;  // eighteen digits are far above any limit and can't overflow
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!http_text::is_digit(c)) return 400;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  info.content_length = value;
  return 0;
}

int judge(const Seen& seen, const HttpConfig& config, HeadInfo& info) {
  if (seen.hosts > 1 || (seen.hosts == 0 && info.version_minor >= 1)) return 400;
  if (seen.lengths > 1 || seen.codings > 1) return 400;
  if (seen.codings == 1) {
    if (seen.lengths > 0 || info.version_minor == 0) return 400;
    if (const int status = read_coding(seen.coding)) return status;
    info.chunked = true;
  } else if (seen.lengths == 1) {
    if (const int status = read_length(seen.length, info)) return status;
    if (info.content_length > config.max_body_bytes) return 413;
  }
  info.keep_alive = !seen.close && (info.version_minor >= 1 || seen.keep_alive);
  return seen.unknown_expectation ? 417 : 0;
}

// llhttp's verdict: 0, 501 for a method that it does not know, 400 for all else.
int run_llhttp(std::string_view head, HttpRequest& request) {
  Spans to{request};
  llhttp_t parser;
  llhttp_init(&parser, HTTP_REQUEST, &kSettings);
  parser.data = &to;
  const llhttp_errno_t error = llhttp_execute(&parser, head.data(), head.size());
  if (error == HPE_PAUSED) return 0;
  const std::string_view method = head.substr(0, head.find(' '));
  if (error == HPE_INVALID_METHOD) return 501;
  // The methods of RTSP and of HTTP/2's preface are refused only when llhttp comes to the version.
  for (int known = 0; known <= HTTP_SOURCE; ++known) {
    if (method == llhttp_method_name(static_cast<llhttp_method_t>(known))) return 400;
  }
  return 501;
}

}  // namespace

int parse_head(std::string_view head, int version_minor, const HttpConfig& config, HttpRequest& request,
               HeadInfo& info) {
  request.method = {};
  request.target = {};
  request.headers.clear();
  request.body = {};
  request.version_minor = version_minor;
  info = {};
  info.version_minor = static_cast<std::uint8_t>(version_minor);
  if (head.starts_with("CONNECT ")) return 501;
  if (const int status = run_llhttp(head, request)) return status;
  return judge_head(config, request, info);
}

int judge_head(const HttpConfig& config, HttpRequest& request, HeadInfo& info) {
  info = {};
  info.version_minor = static_cast<std::uint8_t>(request.version_minor);
  info.is_head = request.method == "HEAD";
  if (const int status = read_target(request)) return status;
  Seen seen;
  for (HttpHeader& header : request.headers) {
    header.value = http_text::trim(header.value);
    if (const int status = read_header(header, seen, info)) return status;
  }
  return judge(seen, config, info);
}

}  // namespace flare::inline FLARE_ABI
