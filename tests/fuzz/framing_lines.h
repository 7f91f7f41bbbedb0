// framing_lines.h: the oracle's bytes and lines (framing_oracle.h).
// Source:     RFC 9110 section 5.6.2, RFC 9112 sections 2.2, 3, 5.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "framing_oracle.h"

namespace flare::fuzz {

inline bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}
inline bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
inline bool is_tchar(char c) {
  return is_alnum(c) || (c != '\0' && is_one_of(c, "!#$%&'*+-.^_`|~"));
}
inline bool is_vchar(char c) {
  return c > 0x20 && c < 0x7f;
}
inline bool is_value_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}
// uri-host and port. A comma is left out: it could stand between two hosts.
inline bool is_host_char(char c) {
  return is_alnum(c) || (c != '\0' && is_one_of(c, "-._~%!$&'()*+;=:[]"));
}
template <class Is>
inline bool all(std::string_view text, Is is) {
  return std::all_of(text.begin(), text.end(), is);
}

inline std::string lowered(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return low;
}
inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// What stands between two line ends, or all there is so far. ended: its CR was seen, so nothing more belongs to it.
struct Line {
  std::string_view text;
  bool ended = false;
  bool whole = false;  // the LF too
};

inline Line line_at(std::string_view bytes, std::size_t at) {
  const std::size_t end = bytes.find("\r\n", at);
  if (end != std::string_view::npos) return {bytes.substr(at, end - at), true, true};
  const std::string_view rest = bytes.substr(at);
  if (rest.ends_with('\r')) return {rest.substr(0, rest.size() - 1), true, false};
  return {rest, false, false};
}

// What is wrong with this much of a request line; 0: nothing yet.
inline int fault_of_request_line(const Line& line, const Limits& limits) {
  const std::string_view text = line.text;
  const std::size_t first = text.find(' ');
  const std::string_view method = text.substr(0, first);
  if (!all(method, is_tchar)) return 400;
  if (method.empty() && (line.ended || first == 0)) return 400;
  if (first == std::string_view::npos) return line.ended ? 400 : 0;
  const std::size_t second = text.find(' ', first + 1);
  const std::string_view target =
      text.substr(first + 1, second == std::string_view::npos ? second : second - first - 1);
  const auto bad = std::find_if_not(target.begin(), target.end(), is_vchar);
  if (static_cast<std::size_t>(bad - target.begin()) > limits.target) return 414;
  if (bad != target.end()) return 400;
  if (second == std::string_view::npos) return line.ended ? 400 : 0;
  if (target.empty()) return 400;
  // The shape first; then a version that is not ours, even if its CR turns out to be a lone one.
  const std::string_view rest = text.substr(second + 1);
  constexpr std::string_view kShape = "HTTP/d.d";
  const std::string_view version = rest.substr(0, kShape.size());
  for (std::size_t i = 0; i < version.size(); ++i) {
    const bool fits = kShape[i] == 'd' ? version[i] >= '0' && version[i] <= '9' : version[i] == kShape[i];
    if (!fits) return 400;
  }
  const bool ended = rest.size() > version.size() ? rest[version.size()] == '\r' : line.ended;
  if (!ended) return rest.size() > version.size() ? 400 : 0;
  if (version.size() < kShape.size()) return 400;
  if (version != "HTTP/1.0" && version != "HTTP/1.1") return 505;
  return rest.size() > version.size() ? 400 : 0;
}

inline int fault_of_header_line(const Line& line) {
  const std::size_t colon = line.text.find(':');
  const std::string_view name = line.text.substr(0, colon);
  if (!all(name, is_tchar)) return 400;  // a fold begins with a space
  if (colon == std::string_view::npos) return line.ended ? 400 : 0;
  if (name.empty()) return 400;
  return all(line.text.substr(colon + 1), is_value_char) ? 0 : 400;
}

}  // namespace flare::fuzz
