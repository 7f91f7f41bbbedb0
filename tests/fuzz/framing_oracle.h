// framing_oracle.h: where requests begin and end in a stream of bytes, and which must be refused.
// Threads:    any; a pure function.
// Owns:       copies.
// Bounds:     what Limits says. Chunk extensions and trailers of a few thousand bytes are within them.
// Source:     RFC 9112 sections 2 to 7, RFC 9110 sections 5, 7 and 10.1.1, read line by line; it shares no code with
//             the product. Where the RFC leaves a choice it is the strict one: one reading, or a refusal.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flare::fuzz {

struct Limits {
  std::size_t head = 0;
  std::size_t target = 0;
  std::size_t headers = 0;
  std::size_t body = 0;
};

struct Message {
  std::string method;
  std::string target;
  int minor = 1;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool expects = false;  // 100 (Continue)
  bool last = false;     // the connection ends behind it
  friend bool operator==(const Message&, const Message&) = default;
};

struct Reading {
  enum class End { kOpen, kClosed, kRefused };
  std::vector<Message> messages;
  End end = End::kOpen;
  std::set<int> statuses;  // kRefused: with one of these
  bool begun = false;      // kOpen: a request has begun
  bool to_head = false;    // kOpen, kRefused: it is a HEAD
  bool expecting = false;  // kOpen: its head is whole and expects 100 (Continue)
};

Reading read_stream(std::string_view bytes, const Limits& limits);

}  // namespace flare::fuzz
