// What two servers could read in two ways is refused, once, and nothing behind it is read.
#include <string>
#include <vector>

#include "http_driver.h"

namespace flare::testing {
namespace {

struct Case {
  int status;
  std::string bytes;
};

const std::string kSecret = "GET /secret HTTP/1.1\r\nHost: x\r\n\r\n";

// One answer with that status, Connection: close, then the end of the stream; the handler never ran.
void expect_refused(const Case& refused, bool split) {
  SCOPED_TRACE(refused.bytes + (split ? " (byte by byte)" : " (whole)"));
  int handled = 0;
  HttpDriver driver([&](const HttpRequest&) {
    ++handled;
    return HttpResponse{};
  });
  const std::string all = refused.bytes + kSecret;
  if (split) {
    for (const char c : all) {
      driver.send(std::string(1, c));
      driver.run();
    }
  } else {
    driver.send(all);
    driver.run();
  }
  const std::vector<Answer> answers = read_answers(driver.read());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(refused.status, answers[0].status);
  EXPECT_TRUE(answers[0].closes());
  EXPECT_TRUE(driver.client_sees_end());
  EXPECT_EQ(0, handled);
  EXPECT_TRUE(driver.lingers()) << "unread bytes must not turn the refusal into a reset";
  EXPECT_EQ(CloseReason::kProtocolError, driver.step().reason);
}

void expect_all_refused(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    expect_refused(one, false);
    expect_refused(one, true);
  }
}

std::string post(const std::string& headers, const std::string& body = "") {
  return "POST / HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body;
}
std::string get(const std::string& headers) {
  return "GET / HTTP/1.1\r\n" + headers + "\r\n";
}

// proves: C-HTTP-05
TEST(Smuggling, LengthBesideTransferCoding) {
  expect_all_refused({
      {400, post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {400, post("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", "0\r\n\r\n")},
      {400, post("TRANSFER-ENCODING: CHUNKED\r\ncontent-length: 3\r\n", "0\r\n\r\n")},
      {400, post("Transfer-Encoding: gzip\r\nContent-Length: 3\r\n", "abc")},
  });
}

// proves: C-HTTP-05, C-HTTP-06
TEST(Smuggling, TransferCodingThatIsNotExactlyChunked) {
  expect_all_refused({
      {400, post("Transfer-Encoding: chunked, gzip\r\n")},
      {400, post("Transfer-Encoding: chunked, chunked\r\n")},
      {400, post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
      {400, post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n")},
      {400, post("Transfer-Encoding : chunked\r\n")},
      {400, post("Transfer-Encoding:\r\n")},
      {400, post("Transfer-Encoding: ,chunked\r\n")},
      {400, post("Transfer-Encoding: chunked,\r\n")},
      {400, post("Transfer-Encoding: chunked;a=b\r\n")},
      {400, post("Transfer-Encoding: \x0b"
                 "chunked\r\n")},
      {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {501, post("Transfer-Encoding: gzip\r\n")},
      {501, post("Transfer-Encoding: xchunked\r\n")},
      {501, post("Transfer-Encoding: identity\r\n")},
      {501, post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
  });
}

// proves: C-HTTP-05
TEST(Smuggling, RepeatedOrSloppyLength) {
  std::vector<Case> cases = {
      {400, post("Content-Length: 5\r\nContent-Length: 5\r\n", "12345")},
      {400, post("Content-Length: 5\r\nContent-Length: 10\r\n", "12345")},
      {400, post("Content-Length: 5\r\ncontent-length: 5\r\n", "12345")},
      {400, post("Content-Length : 5\r\n", "12345")},
  };
  for (const char* value : {"5,10", "5, 5", "+5", "-1", "0x5", "", " ", "99999999999999999999", "5 6", "5a", "1e1",
                            "18446744073709551616", "18446744073709551621", "0000000000000000000000005"}) {
    cases.push_back({400, post("Content-Length: " + std::string(value) + "\r\n", "12345")});
  }
  expect_all_refused(cases);
}

// proves: C-HTTP-05
TEST(Smuggling, LineEndsFoldsAndNames) {
  expect_all_refused({
      {400, "GET / HTTP/1.1\nHost: x\n\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\nA: b\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\n\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n"},
      {400, "GET / HTTP/1.1\rHost: x\r\r"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\n\rX\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n folded\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tfolded\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n Host: x\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost : x\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost\t: x\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\r\nA(b): c\r\n\r\n"},
      {400, get("Host: x\r\nA: " + std::string(1, '\0') + "\r\n")},
      {400, get("Host: x\r\nA: \x01\r\n")},
      {400, get("Host: x\r\nA: \x7f\r\n")},
      {400, get("Host: x\r\nA\xc3\xa4: b\r\n")},
      {400, "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, " GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
  });
}

// proves: C-HTTP-05, C-HTTP-06
TEST(Smuggling, RequestLinesAndHosts) {
  expect_all_refused({
      {400, "GARBAGE\r\n\r\n"},
      {400, "GET  / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET /  HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET / HTTP/1.1 \r\nHost: x\r\n\r\n"},
      {400, "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET /\r\n\r\n"},
      {400, "GET / http/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET / HTTP/11\r\nHost: x\r\n\r\n"},
      {400, "GET / HTTP/1.11\r\nHost: x\r\n\r\n"},
      {400, "GET /\x80 HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET a HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET * HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET ftp://h/ HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET http:///p HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET http://u@h/p HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "GET http://h/p HTTP/1.1\r\n\r\n"},
      {400, get("")},
      {400, get("Host: x\r\nHost: x\r\n")},
      {400, get("Host: x\r\nhost: y\r\n")},
      {400, get("Host: a, b\r\n")},
      {400, get("Host: a,b\r\n")},
      {400, get("Host: a b\r\n")},
      {400, get("Host: a/b\r\n")},
      {400, "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"},
      {501, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"},
      {501, "BREW / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {501, "get / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {501, "GETT / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {501, "DESCRIBE / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {501, "PRI / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {505, "GET / HTTP/1.2\r\nHost: x\r\n\r\n"},
      {505, "GET / HTTP/2.0\r\nHost: x\r\n\r\n"},
      {505, "GET / HTTP/0.9\r\nHost: x\r\n\r\n"},
      {505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {417, get("Host: x\r\nExpect: the unexpected\r\n")},
      {413, post("Content-Length: 1048577\r\n")},
      {431, get("Host: x\r\nA: " + std::string(17000, 'a') + "\r\n")},
      {414, "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n"},
  });
}

// proves: C-HTTP-05
TEST(Smuggling, ChunkFraming) {
  std::vector<Case> cases;
  for (const char* body : {"5\nhello\r\n0\r\n\r\n",
                           "5\r\nhello\n0\r\n\r\n",
                           "5\r\nhelloXX0\r\n\r\n",
                           "5\r\nhello0\r\n\r\n",
                           "+5\r\nhello\r\n",
                           "0x5\r\nhello\r\n",
                           " 5\r\nhello\r\n",
                           "5 \r\nhello\r\n",
                           "5 ;a\r\nhello\r\n",
                           "\r\nhello\r\n",
                           ";a\r\nhello\r\n",
                           "-1\r\nhello\r\n",
                           "g\r\nhello\r\n",
                           "5\r\r\nhello\r\n",
                           "5;a\nb\r\nhello\r\n",
                           "5;a\rb\r\nhello\r\n",
                           "00000000000000005\r\nhello\r\n",
                           "10000000000000005\r\nhello\r\n",
                           "0\r\nT: v\n\r\n",
                           "0\r\n T: v\r\n\r\n",
                           "0\r\nT : v\r\n\r\n",
                           "0\r\nT: v\r\n\rX",
                           "0\r\nT: a\rb\r\n\r\n"}) {
    cases.push_back({400, post("Transfer-Encoding: chunked\r\n", body)});
  }
  cases.push_back({413, post("Transfer-Encoding: chunked\r\n", "FFFFFFFFFFFFFFFF\r\n")});
  cases.push_back({413, post("Transfer-Encoding: chunked\r\n", "1\r\na\r\nFFFFFFFFFFFFFFFF\r\n")});
  expect_all_refused(cases);
}

// proves: C-HTTP-01, C-HTTP-05
TEST(Smuggling, WhatStandsBeforeARefusedMessageIsAnswered) {
  std::vector<std::string> targets;
  HttpDriver driver([&](const HttpRequest& request) {
    targets.emplace_back(request.target);
    return HttpResponse{};
  });
  const auto answers = driver.exchange("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\n\r\n" + kSecret);
  ASSERT_EQ(2U, answers.size());
  EXPECT_EQ(200, answers[0].status);
  EXPECT_FALSE(answers[0].closes());
  EXPECT_EQ(400, answers[1].status);
  EXPECT_EQ(std::vector<std::string>{"/1"}, targets);
}

}  // namespace
}  // namespace flare::testing
