// Heads of the usual kind, read in one pass: which they are, and that HeadScanner and llhttp read them in the same way.
// What is near them, byte by byte, is either left to those two or read as they do. More of it: fuzz_plain_head.
#include "flare/http/plain_head.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flare/http/request_reader.h"
#include "support/head_readings.h"

namespace flare::testing {
namespace {

const std::vector<std::string> kPlain{
    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /index.html?a=b&c=%20 HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
    "HEAD /a HTTP/1.1\r\nhost:h\r\nX:\r\nY:   a b, c  \r\n\r\n",
    "POST /form HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Type: text/plain\r\n\r\n",
    "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "DELETE /x HTTP/1.1\r\nHost: h\r\nCookie: a=b; c=\"d\"; \x80\xff\r\n\r\n",
    "PATCH /~x HTTP/1.1\r\nHost: [::1]\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n",
};

// Nothing: both agree, or it is not plain.
std::string disagreement(const std::string& head, const HttpConfig& config = {}) {
  // A buffer of exact size, so that a sanitizer sees a read past its end.
  const std::vector<char> exact(head.begin(), head.end());
  const std::string_view data(exact.data(), exact.size());
  const std::optional<std::string> plain = plain_reading(data, config);
  if (!plain) return {};
  const std::optional<std::string> strict = strict_reading(data, config);
  return plain == strict ? "" : "plain: " + *plain + "\nstrict: " + strict.value_or("not whole") + "\nof: " + head;
}

bool is_plain(const std::string& head, const HttpConfig& config = {}) {
  return plain_reading(head, config).has_value();
}

TEST(PlainHead, TakesTheUsualHeadsAsTheStrictReadersDo) {
  for (const std::string& head : kPlain) {
    EXPECT_TRUE(is_plain(head)) << head;
    EXPECT_EQ(disagreement(head), "");
    EXPECT_EQ(disagreement(head + "GET / HTTP/1.1\r\n"), "") << "what stands behind the head changes nothing";
  }
}

TEST(PlainHead, LeavesWhatIsNotWholeToTheOthers) {
  for (const std::string& head : kPlain) {
    for (std::size_t size = 0; size < head.size(); ++size) EXPECT_FALSE(is_plain(head.substr(0, size))) << size;
  }
}

TEST(PlainHead, EveryOtherByteInEveryPlaceIsReadInTheSameWayOrLeft) {
  int taken = 0;
  for (const std::string& head : kPlain) {
    for (std::size_t at = 0; at < head.size(); ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string changed = head;
        changed[at] = static_cast<char>(byte);
        ASSERT_EQ(disagreement(changed), "");
        taken += is_plain(changed) ? 1 : 0;
        changed = head;
        changed.insert(at, 1, static_cast<char>(byte));
        ASSERT_EQ(disagreement(changed), "");
      }
      std::string shorter = head;
      shorter.erase(at, 1);
      ASSERT_EQ(disagreement(shorter), "");
    }
  }
  EXPECT_GT(taken, 10'000) << "most changes of a target or a value leave a plain head";
}

// Control bytes at each place of a long value: eight bytes are looked at at once.
TEST(PlainHead, SeesAControlByteAtEachPlaceOfAValue) {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const char byte : {'\x00', '\x08', '\x09', '\x0a', '\x0d', '\x1f', '\x20', '\x7e', '\x7f', '\x80', '\xff'}) {
        std::string value(size, 'v');
        value[at] = byte;
        const std::string head = "GET / HTTP/1.1\r\nHost: h\r\nX: " + value + "\r\n\r\n";
        const bool allowed = static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f;
        ASSERT_EQ(is_plain(head), allowed) << size << " bytes, at " << at << ": " << static_cast<int>(byte);
        ASSERT_EQ(disagreement(head), "");
      }
    }
  }
}

TEST(PlainHead, KeepsTheBoundsOfTheStrictReaders) {
  const std::string& head = kPlain[1];
  for (std::size_t bound = 1; bound < head.size() + 2; ++bound) {
    HttpConfig config;
    config.max_head_bytes = bound;
    ASSERT_EQ(disagreement(head, config), "");
    EXPECT_EQ(is_plain(head, config), bound >= head.size()) << bound;
    config = {};
    config.max_target_bytes = bound;
    ASSERT_EQ(disagreement(head, config), "");
    EXPECT_EQ(is_plain(head, config), bound >= std::string("/index.html?a=b&c=%20").size()) << bound;
    config = {};
    config.max_headers = bound;
    ASSERT_EQ(disagreement(head, config), "");
    EXPECT_EQ(is_plain(head, config), bound >= 3) << bound;
  }
}

// The scanner has not begun: nobody has asked it. What came in two parts it has read, and goes on with.
TEST(PlainHead, IsWhatAReaderTriesFirstAndOnlyThen) {
  for (const std::size_t first : {kPlain[0].size(), std::size_t{20}}) {
    std::string bytes = kPlain[0];
    const bool whole = first == bytes.size();
    RequestReader reader;
    HttpRequest request;
    const RequestReader::Result result = reader.read(bytes.data(), first, HttpConfig{}, request);
    EXPECT_EQ(result, whole ? RequestReader::Result::kRequest : RequestReader::Result::kNeedMore);
    if (!whole) {
      EXPECT_EQ(reader.read(bytes.data(), bytes.size(), HttpConfig{}, request), RequestReader::Result::kRequest);
    }
    EXPECT_EQ(reader.begun(), !whole);
  }
}

TEST(PlainHead, WhatMustBeRefusedOrRememberedIsLeftToTheOthers) {
  const std::string start = "POST / HTTP/1.1\r\nHost: h\r\n";
  struct Case {
    std::string bytes;
    RequestReader::Result result;
    int status;
  };
  for (const Case& one : std::vector<Case>{
           {start + "Content-Length: 3\r\n\r\nab", RequestReader::Result::kNeedMore, 0},
           {start + "Content-Length: 3\r\n\r\nabc", RequestReader::Result::kRequest, 0},
           {start + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", RequestReader::Result::kRequest, 0},
           {start + "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n", RequestReader::Result::kNeedMore, 0},
           {start + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", RequestReader::Result::kRefused, 400},
           {start + "Content-Length: 9999999\r\n\r\n", RequestReader::Result::kRefused, 413},
           {start + "Host: h\r\n\r\n", RequestReader::Result::kRefused, 400},
           {start + "Expect: more\r\n\r\n", RequestReader::Result::kRefused, 417},
           {"GET /#part HTTP/1.1\r\nHost: h\r\n\r\n", RequestReader::Result::kRefused, 400}}) {
    std::string bytes = one.bytes;
    RequestReader reader;
    HttpRequest request;
    EXPECT_EQ(reader.read(bytes.data(), bytes.size(), HttpConfig{}, request), one.result) << one.bytes;
    EXPECT_EQ(reader.status(), one.status) << one.bytes;
  }
}

}  // namespace
}  // namespace flare::testing
