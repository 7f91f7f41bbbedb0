#include "framing_oracle.h"

#include <algorithm>
#include <array>

#include "framing_lines.h"

namespace flare::fuzz {

namespace {

using Statuses = std::set<int>;

// Those of RFC 9110 and of the registry that the product says it knows; CONNECT is for proxies.
bool is_known_method(std::string_view method) {
  constexpr std::array<std::string_view, 33> kMethods = {
      "GET",         "HEAD",  "POST",       "PUT",        "DELETE",    "OPTIONS", "TRACE",    "PATCH",  "COPY",
      "LOCK",        "MKCOL", "MOVE",       "PROPFIND",   "PROPPATCH", "SEARCH",  "UNLOCK",   "BIND",   "REBIND",
      "UNBIND",      "ACL",   "REPORT",     "MKACTIVITY", "CHECKOUT",  "MERGE",   "M-SEARCH", "NOTIFY", "SUBSCRIBE",
      "UNSUBSCRIBE", "PURGE", "MKCALENDAR", "LINK",       "UNLINK",    "SOURCE"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

// Origin form, "*" for OPTIONS, or the path of an absolute form. False: no target of ours.
bool read_target(Message& message) {
  std::string& target = message.target;
  if (target.find('#') != std::string::npos) return false;
  if (target.front() == '/') return true;
  if (target == "*") return message.method == "OPTIONS";
  const std::size_t scheme_end = target.find("://");
  if (scheme_end == std::string::npos) return false;
  const std::string scheme = lowered(target.substr(0, scheme_end));
  const std::string rest = target.substr(scheme_end + 3);
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  const std::string authority = rest.substr(0, path);
  if ((scheme != "http" && scheme != "https") || authority.empty() || !all(authority, is_host_char)) return false;
  if (path < rest.size() && rest[path] == '?') return false;  // an empty path before a query has no origin form here
  target = path == rest.size() ? "/" : rest.substr(path);
  return true;
}

struct Framing {
  bool chunked = false;
  std::size_t length = 0;
};

std::vector<std::string> values_of(const Message& message, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [one, value] : message.headers) {
    if (lowered(one) == name) values.push_back(value);
  }
  return values;
}

void judge_length(const std::string& text, const Limits& limits, Framing& framing, Statuses& faults) {
  if (text.empty() || !all(text, [](char c) { return c >= '0' && c <= '9'; })) {
    faults.insert(400);
    return;
  }
  if (text.size() > 18) faults.insert({400, 413});
  for (const char c : text)
    framing.length = std::min<std::size_t>(framing.length * 10 + static_cast<std::size_t>(c - '0'), limits.body + 1);
  if (framing.length > limits.body) faults.insert(413);
}

// Every rule that a whole head breaks.
Statuses judge_head(Message& message, const Limits& limits, Framing& framing) {
  Statuses faults;
  if (!is_known_method(message.method)) faults.insert(501);
  if (!read_target(message)) faults.insert(400);
  const auto hosts = values_of(message, "host");
  if (hosts.size() > 1 || (hosts.empty() && message.minor == 1)) faults.insert(400);
  for (const std::string& host : hosts) {
    if (!all(host, is_host_char)) faults.insert(400);
  }
  const auto lengths = values_of(message, "content-length");
  const auto codings = values_of(message, "transfer-encoding");
  if (lengths.size() > 1 || codings.size() > 1 || (!lengths.empty() && !codings.empty())) faults.insert(400);
  if (!codings.empty() && message.minor == 0) faults.insert(400);
  for (const std::string& coding : codings) {
    if (lowered(coding) != "chunked") faults.insert({400, 501});
  }
  for (const std::string& length : lengths) judge_length(length, limits, framing, faults);
  framing.chunked = !codings.empty();
  for (const std::string& expected : values_of(message, "expect")) {
    if (lowered(expected) != "100-continue") faults.insert(417);
    message.expects = message.minor == 1;
  }
  bool keep = message.minor == 1;
  bool close = false;
  for (std::string list : values_of(message, "connection")) {
    for (list += ','; !list.empty(); list.erase(0, list.find(',') + 1)) {
      const std::string option = lowered(trimmed(std::string_view(list).substr(0, list.find(','))));
      keep = keep || option == "keep-alive";
      close = close || option == "close";
    }
  }
  message.last = close || !keep;
  return faults;
}

class Stream {
 public:
  Stream(std::string_view bytes, const Limits& limits) : bytes_(bytes), limits_(limits) {}

  Reading read() {
    while (at_ < bytes_.size() && read_message()) {
      reading_.begun = reading_.expecting = false;
      if (reading_.messages.back().last) {
        reading_.end = Reading::End::kClosed;
        break;
      }
    }
    return std::move(reading_);
  }

 private:
  // False: the stream ends within the message, or it is refused.
  bool read_message() {
    if (bytes_[at_] == '\r') {  // one empty line before a request is nothing
      if (at_ + 1 == bytes_.size()) return false;
      if (bytes_[at_ + 1] != '\n') return refuse({400});
      at_ += 2;
      if (at_ == bytes_.size()) return false;
    }
    reading_.begun = true;
    reading_.to_head = bytes_.substr(at_).starts_with("HEAD ");
    Message message;
    Framing framing;
    if (!read_head(message)) return false;
    if (const Statuses faults = judge_head(message, limits_, framing); !faults.empty()) return refuse(faults);
    reading_.expecting = message.expects;
    if (!(framing.chunked ? read_chunks(message) : read_sized(message, framing.length))) return false;
    reading_.messages.push_back(std::move(message));
    return true;
  }

  bool read_head(Message& message) {
    head_end_ = at_ + limits_.head;
    const std::string_view head = bytes_.substr(0, head_end_);  // what stands behind it is not looked at
    Line line = line_at(head, at_);
    if (const int fault = fault_of_request_line(line, limits_)) return refuse({fault});
    if (!line.whole) return no_end({414, 431});
    const std::size_t first = line.text.find(' ');
    const std::size_t second = line.text.find(' ', first + 1);
    message.method = line.text.substr(0, first);
    message.target = line.text.substr(first + 1, second - first - 1);
    message.minor = line.text.back() - '0';
    for (at_ += line.text.size() + 2;; at_ += line.text.size() + 2) {
      line = line_at(head, at_);
      if (line.whole && line.text.empty()) break;
      const bool too_many = message.headers.size() == limits_.headers && !line.text.empty();
      if (too_many) return refuse({is_tchar(line.text.front()) ? 431 : 400});
      if (!line.text.empty() && fault_of_header_line(line) != 0) return refuse({400});
      if (!line.whole) return no_end({431});
      const std::size_t colon = line.text.find(':');
      message.headers.emplace_back(line.text.substr(0, colon), trimmed(line.text.substr(colon + 1)));
    }
    at_ += 2;
    return true;
  }

  bool read_sized(Message& message, std::size_t length) {
    if (bytes_.size() - at_ < length) return false;
    message.body = bytes_.substr(at_, length);
    at_ += length;
    return true;
  }

  bool read_chunks(Message& message) {
    for (;;) {
      const Line line = line_at(bytes_, at_);
      const std::size_t digits = std::min(line.text.find_first_not_of("0123456789abcdefABCDEF"), line.text.size());
      const bool size_ended = digits < line.text.size() || line.ended;
      if (digits > 16 || (size_ended && digits == 0)) return refuse({400});
      // Behind a lone CR the size has ended as well, and may be too large before the CR is wrong.
      if (digits < line.text.size() && line.text[digits] != ';' && line.text[digits] != '\r') return refuse({400});
      if (!size_ended) return false;
      std::size_t size = 0;
      for (const char c : lowered(line.text.substr(0, digits))) {
        const std::size_t digit = static_cast<std::size_t>(c <= '9' ? c - '0' : c - 'a' + 10);
        size = std::min(size * 16 + digit, limits_.body + 1);
      }
      if (size > limits_.body - message.body.size()) return refuse({413});
      if (!all(line.text.substr(digits), is_value_char)) return refuse({400});
      if (!line.whole) return false;
      at_ += line.text.size() + 2;
      if (size == 0) return read_trailers();
      const std::string_view data = bytes_.substr(at_, size + 2);
      if (data.size() > size && !std::string_view("\r\n").starts_with(data.substr(size))) return refuse({400});
      if (data.size() < size + 2) return false;
      message.body += data.substr(0, size);
      at_ += data.size();
    }
  }

  // Checked like headers, and dropped.
  bool read_trailers() {
    for (;;) {
      const Line line = line_at(bytes_, at_);
      if (!line.text.empty() && fault_of_header_line(line) != 0) return refuse({400});
      if (!line.whole) return false;
      at_ += line.text.size() + 2;
      if (line.text.empty()) return true;
    }
  }

  bool refuse(Statuses statuses) {
    reading_.end = Reading::End::kRefused;
    reading_.statuses = std::move(statuses);
    return false;
  }
  // The head goes on: if it has reached its limit, it can't end within it.
  bool no_end(Statuses statuses) { return bytes_.size() >= head_end_ ? refuse(std::move(statuses)) : false; }

  std::string_view bytes_;
  const Limits& limits_;
  std::size_t at_ = 0;
  std::size_t head_end_ = 0;  // of the longest head that may begin here
  Reading reading_;
};

}  // namespace

Reading read_stream(std::string_view bytes, const Limits& limits) {
  return Stream(bytes, limits).read();
}

}  // namespace flare::fuzz
