// The sans-IO reader: what is a request, where it ends, what is refused, and that splitting changes nothing.
#include "flare/http/request_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "flare/http/http_date.h"

namespace flare::testing {
namespace {

struct Outcome {
  int status = 0;  // of the refusal that ended it; 0: none
  std::vector<std::string> requests;
  bool partial = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::string describe(const HttpRequest& request, const HeadInfo& info) {
  std::string text = std::string(request.method) + ' ' + std::string(request.target) + " 1." +
                     std::to_string(request.version_minor) + (info.keep_alive ? " keep" : " close");
  for (const HttpHeader& header : request.headers) {
    text += '|' + std::string(header.name) + '=' + std::string(header.value);
  }
  return text + '\n' + std::string(request.body);
}

// Feeds the pieces as a connection does: what is kept, then what arrived.
Outcome feed(const std::vector<std::string>& pieces, const HttpConfig& config) {
  Outcome outcome;
  RequestReader reader;
  HttpRequest request;
  std::string buffer;
  for (const std::string& piece : pieces) {
    buffer += piece;
    while (!buffer.empty()) {
      // A buffer of exact size, so that a sanitizer sees a read past its end.
      std::vector<char> exact(buffer.begin(), buffer.end());
      const RequestReader::Result result = reader.read(exact.data(), exact.size(), config, request);
      if (result == RequestReader::Result::kRefused) {
        outcome.status = reader.status();
        return outcome;
      }
      if (result == RequestReader::Result::kNeedMore) {
        buffer.assign(exact.data(), reader.kept());
        break;
      }
      outcome.requests.push_back(describe(request, reader.info()));
      buffer.assign(exact.data() + reader.end(), exact.size() - reader.end());
      reader = RequestReader();
    }
  }
  outcome.partial = reader.begun();
  return outcome;
}

std::vector<std::string> bytes_of(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char c : text) pieces.emplace_back(1, c);
  return pieces;
}

// Whole and byte by byte must agree; returns what they say.
Outcome read_both(const std::string& text, const HttpConfig& config = {}) {
  const Outcome whole = feed({text}, config);
  const Outcome split = feed(bytes_of(text), config);
  EXPECT_EQ(whole.status, split.status) << text;
  EXPECT_EQ(whole.requests, split.requests) << text;
  EXPECT_EQ(whole.partial, split.partial) << text;
  return whole;
}

// proves: C-HTTP-01, C-HTTP-02, C-HTTP-11
TEST(RequestReader, ReadsWhatIsAllowed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / 1.1 keep|Host=x\n"},
      {"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / 1.1 keep|Host=x\n"},
      {"GET /a?b=c HTTP/1.1\r\nhost:x\r\nX-Y: \t two words \t\r\nEmpty:\r\n\r\n",
       "GET /a?b=c 1.1 keep|host=x|X-Y=two words|Empty=\n"},
      {"GET / HTTP/1.0\r\n\r\n", "GET / 1.0 close\n"},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET / 1.0 keep|Connection=Keep-Alive\n"},
      {"GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, CLOSE\r\n\r\n", "GET / 1.1 close|Host=x|Connection=foo, CLOSE\n"},
      {"GET http://h:80/p?q HTTP/1.1\r\nHost: h\r\n\r\n", "GET /p?q 1.1 keep|Host=h\n"},
      {"GET http://h HTTP/1.1\r\nHost: h\r\n\r\n", "GET / 1.1 keep|Host=h\n"},
      {"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * 1.1 keep|Host=h\n"},
      {"M-SEARCH / HTTP/1.1\r\nHost: h\r\n\r\n", "M-SEARCH / 1.1 keep|Host=h\n"},
      {"GET / HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
       "GET / 1.1 keep|Host=h|Upgrade=h2c|Connection=upgrade\n"},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
       "POST / 1.1 keep|Host=h|Content-Length=5\nhello"},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "POST / 1.1 keep|Host=h|Content-Length=0\n"},
      {"POST / HTTP/1.1\r\nHost: h\r\ntransfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX: "
       "y\r\n\r\n",
       "POST / 1.1 keep|Host=h|transfer-encoding=Chunked\nhello world"},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\nHost: z\r\n\r\n",
       "POST / 1.1 keep|Host=h|Transfer-Encoding=chunked\na"},
  };
  for (const auto& [text, wanted] : cases) {
    const Outcome outcome = read_both(text);
    EXPECT_EQ(0, outcome.status) << text;
    ASSERT_EQ(1U, outcome.requests.size()) << text;
    EXPECT_EQ(wanted, outcome.requests[0]);
    EXPECT_FALSE(outcome.partial);
  }
}

// proves: C-HTTP-02
RC_GTEST_PROP(RequestReader, SplittingChangesNothing, ()) {
  const std::vector<std::string> parts = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                                          "\r\n",
                                          "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n\r\n0123456",
                                          "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                                          "chunked\r\n\r\n4\r\nwiki\r\n5;x=1\r\npedia\r\n0\r\nT: v\r\n\r\n",
                                          "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                                          "GET / HTTP/3.0\r\n\r\n",
                                          "GARBAGE\r\n\r\n",
                                          "GET /x HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n"};
  std::string text;
  const auto picks = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, static_cast<int>(parts.size())));
  for (const int pick : picks) text += parts[static_cast<std::size_t>(pick)];
  text = text.substr(0, static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(text.size()) + 1)));
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = static_cast<std::size_t>(*rc::gen::inRange(1, 40));
    pieces.push_back(text.substr(at, size));
    at += size;
  }
  const HttpConfig config;
  RC_ASSERT(feed({text}, config) == feed(pieces, config));
}

// One byte changed anywhere never breaks the reader, and whole and split agree on it.
RC_GTEST_PROP(RequestReader, SurvivesAnyByte, ()) {
  std::string text =
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n0\r\nT: v\r\n\r\n"
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  const auto at = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(text.size())));
  text[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  const HttpConfig config;
  const Outcome whole = feed({text}, config);
  RC_ASSERT(whole == feed(bytes_of(text), config));
  RC_ASSERT(whole.status == 0 || whole.status >= 400);
}

std::string head_of_size(std::size_t size) {
  const std::string frame = "GET / HTTP/1.1\r\nHost: x\r\nPad: \r\n\r\n";
  std::string head = frame;
  head.insert(frame.size() - 4, size - frame.size(), 'p');
  return head;
}

// proves: C-HTTP-06
TEST(RequestReader, LimitsHoldToTheByte) {
  HttpConfig config;
  config.max_head_bytes = 300;
  config.max_target_bytes = 20;
  config.max_headers = 5;
  config.max_body_bytes = 10;
  EXPECT_EQ(0, read_both(head_of_size(299), config).status);
  EXPECT_EQ(0, read_both(head_of_size(300), config).status);
  EXPECT_EQ(0, read_both("\r\n" + head_of_size(300), config).status) << "the tolerated empty line does not count";
  EXPECT_EQ(431, read_both(head_of_size(301), config).status);

  const auto target = [](std::size_t size) {
    return "GET /" + std::string(size - 1, 't') + " HTTP/1.1\r\nHost: x\r\n\r\n";
  };
  EXPECT_EQ(0, read_both(target(19), config).status);
  EXPECT_EQ(0, read_both(target(20), config).status);
  EXPECT_EQ(414, read_both(target(21), config).status);

  const auto headers = [](int count) {
    std::string text = "GET / HTTP/1.1\r\nHost: x\r\n";
    for (int i = 1; i < count; ++i) text += "a: b\r\n";
    return text + "\r\n";
  };
  EXPECT_EQ(0, read_both(headers(4), config).status);
  EXPECT_EQ(0, read_both(headers(5), config).status);
  EXPECT_EQ(431, read_both(headers(6), config).status);

  const auto sized = [](std::size_t size) {
    return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'b');
  };
  EXPECT_EQ(1U, read_both(sized(9), config).requests.size());
  EXPECT_EQ(1U, read_both(sized(10), config).requests.size());
  EXPECT_EQ(413, read_both(sized(11), config).status);

  const auto chunked = [](const std::string& body) {
    return "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body + "0\r\n\r\n";
  };
  EXPECT_EQ(1U, read_both(chunked("5\r\n12345\r\n4\r\n6789\r\n"), config).requests.size());
  EXPECT_EQ(1U, read_both(chunked("5\r\n12345\r\n5\r\n67890\r\n"), config).requests.size());
  EXPECT_EQ(413, read_both(chunked("5\r\n12345\r\n6\r\n678901\r\n"), config).status);
}

// proves: C-HTTP-06
TEST(RequestReader, AHeadWithoutAnEndIsBounded) {
  HttpConfig config;
  EXPECT_EQ(431, read_both(std::string(1 << 17, 'A'), config).status);
  EXPECT_EQ(414, read_both("GET /" + std::string(1 << 17, 'A'), config).status);
  config.max_target_bytes = 1 << 20;
  EXPECT_EQ(414, read_both("GET /" + std::string(1 << 17, 'A'), config).status);
  EXPECT_EQ(431, read_both("GET / HTTP/1.1\r\nX: " + std::string(1 << 17, 'A'), config).status);
  EXPECT_EQ(431, read_both("GET / HTTP/1.1\r\n" + std::string(1 << 17, 'A'), config).status);
}

// proves: C-HTTP-06
TEST(RequestReader, FramingOverheadOfChunksIsBounded) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto extension = [&](std::size_t size) { return head + "0;" + std::string(size - 1, 'e') + "\r\n\r\n"; };
  EXPECT_EQ(0, read_both(extension(http_limits::kChunkExtensionBytes - 1)).status);
  EXPECT_EQ(0, read_both(extension(http_limits::kChunkExtensionBytes)).status);
  EXPECT_EQ(400, read_both(extension(http_limits::kChunkExtensionBytes + 1)).status);
  std::string many = head;
  for (int i = 0; i < 3000; ++i) many += "1;e\r\nx\r\n";
  EXPECT_EQ(400, read_both(many).status) << "the bound holds for the sum of a message";

  const auto trailer = [&](std::size_t size) { return head + "0\r\nT: " + std::string(size - 7, 't') + "\r\n\r\n"; };
  EXPECT_EQ(1U, read_both(trailer(http_limits::kTrailerBytes)).requests.size());
  EXPECT_EQ(431, read_both(trailer(http_limits::kTrailerBytes + 1)).status);
}

TEST(RequestReader, CountsWholeRequestsAhead) {
  const HttpConfig config;
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
  EXPECT_EQ(0, count_whole_requests("", config));
  EXPECT_EQ(0, count_whole_requests(get.substr(0, 20), config));
  EXPECT_EQ(3, count_whole_requests(get + chunked + get + get.substr(0, 5), config));
  EXPECT_EQ(2, count_whole_requests(get + "BAD\r\n" + get, config));
  EXPECT_EQ(1, count_whole_requests("GET / HTTP/1.0\r\n\r\n" + get, config));
}

// proves: C-HTTP-11
TEST(HttpDate, FormatsKnownMoments) {
  const auto text = [](std::int64_t seconds) {
    const auto date = format_http_date(seconds);
    return std::string(date.data(), date.size());
  };
  EXPECT_EQ("Thu, 01 Jan 1970 00:00:00 GMT", text(0));
  EXPECT_EQ("Sun, 06 Nov 1994 08:49:37 GMT", text(784111777));
  EXPECT_EQ("Tue, 29 Feb 2000 23:59:59 GMT", text(951868799));
  EXPECT_EQ("Wed, 31 Dec 2025 12:00:00 GMT", text(1767182400));
  EXPECT_EQ("Sun, 28 Feb 2100 00:00:00 GMT", text(4107456000));
  EXPECT_EQ("Mon, 01 Mar 2100 00:00:00 GMT", text(4107542400)) << "no leap year";
  EXPECT_EQ("Fri, 31 Dec 9999 23:59:59 GMT", text(253402300799));
}

}  // namespace
}  // namespace flare::testing
