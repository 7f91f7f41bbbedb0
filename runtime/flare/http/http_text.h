// http_text.h: which bytes may stand where in a message, and comparing without regard to case.  Internal.
// Threads:    any; constants and pure functions.
// Owns:       nothing.
// Bounds:     none.
// Errors:     none.
// Ordering:   none.
// Invariants: none.
// Not here:   the grammar (head_scanner.h, request_parser.h).
// Source:     RFC 9110 section 5.6.2 (token), RFC 9112.
#pragma once

#include <array>
#include <string_view>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI::http_text {

inline constexpr unsigned char kToken = 1;   // of a method or a field name
inline constexpr unsigned char kTarget = 2;  // visible ASCII
inline constexpr unsigned char kValue = 4;   // of a field value: no control byte but HTAB
inline constexpr unsigned char kHost = 8;    // of a Host value: no comma, since a list of hosts is ambiguous

constexpr std::array<unsigned char, 256> make_classes() {
  std::array<unsigned char, 256> classes{};
  for (unsigned i = 0; i < 256; ++i) {
    if (i > 0x20 && i < 0x7f) classes[i] |= kTarget;
    if ((i >= 0x20 && i != 0x7f) || i == '\t') classes[i] |= kValue;
    const bool alnum = (i >= '0' && i <= '9') || (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z');
    if (alnum) classes[i] |= kToken | kHost;
  }
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) classes[static_cast<unsigned char>(c)] |= kToken;
  for (const char c : std::string_view("-._~%!$&'()*+;=:[]")) classes[static_cast<unsigned char>(c)] |= kHost;
  return classes;
}
inline constexpr std::array<unsigned char, 256> kClasses = make_classes();

constexpr bool is(char c, unsigned char what) {
  return (kClasses[static_cast<unsigned char>(c)] & what) != 0;
}
constexpr bool all(std::string_view text, unsigned char what) {
  for (const char c : text) {
    if (!is(c, what)) return false;
  }
  return true;
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// wanted is in lower case.
constexpr bool same(std::string_view text, std::string_view wanted) {
  if (text.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != wanted[i]) return false;
  }
  return true;
}

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Takes the next element of a comma separated list off its front.
constexpr std::string_view next_element(std::string_view& list) {
  const std::size_t comma = list.find(',');
  const std::string_view element = trim(list.substr(0, comma));
  list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  return element;
}

}  // namespace flare::inline FLARE_ABI::http_text
