// Answers as bytes: framing, headers that must not be written, and the answer that is rendered once.
#include "flare/http/response_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flare/base/network_error.h"
#include "flare/http/http_frontend.h"
#include "http_driver.h"

namespace flare::testing {
namespace {

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

AnswerContext context(bool to_head = false, int minor = 1, bool close = false) {
  AnswerContext made;
  made.date = kDate;
  made.to_head = to_head;
  made.version_minor = static_cast<std::uint8_t>(minor);
  made.close = close;
  return made;
}

std::string head(const HttpResponse& response, const AnswerContext& with) {
  std::string out;
  append_head(out, response, with);
  return out;
}

// proves: C-HTTP-11
TEST(ResponseWriter, FramesByLength) {
  HttpResponse response;
  response.body = "hello";
  response.headers = {{"X-A", "b"}};
  EXPECT_EQ("HTTP/1.1 200 OK\r\nDate: " + std::string(kDate) + "\r\nContent-Length: 5\r\nX-A: b\r\n\r\n",
            head(response, context()));
  EXPECT_NE(std::string::npos, head(response, context(false, 0)).find("\r\nConnection: keep-alive\r\n"));
  EXPECT_NE(std::string::npos, head(response, context(false, 1, true)).find("\r\nConnection: close\r\n"));
  EXPECT_EQ(head(response, context()), head(response, context(true))) << "HEAD gets the head of GET";
}

TEST(ResponseWriter, FramesAnUnknownLengthAsTheVersionAllows) {
  HttpResponse response;
  response.source = [](char*, std::size_t) { return std::size_t{0}; };
  EXPECT_EQ(BodyFraming::kChunked, framing_of(response, 1));
  EXPECT_EQ(BodyFraming::kUntilClose, framing_of(response, 0));
  EXPECT_NE(std::string::npos, head(response, context()).find("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_EQ(std::string::npos, head(response, context(false, 0, true)).find("Transfer-Encoding"));
  response.source_length = 7;
  EXPECT_NE(std::string::npos, head(response, context()).find("\r\nContent-Length: 7\r\n"));
}

TEST(ResponseWriter, AStatusWithoutAPhraseOfItsOwnBorrowsNone) {
  EXPECT_EQ("OK", reason_phrase(200));
  EXPECT_EQ("HTTP Version Not Supported", reason_phrase(505));
  for (const int between_or_behind_known_ones : {299, 427, 430, 506, 999}) {
    EXPECT_EQ("Unknown", reason_phrase(between_or_behind_known_ones)) << between_or_behind_known_ones;
  }
}

TEST(ResponseWriter, NoBodyFor204And304) {
  for (const int status : {204, 304}) {
    HttpResponse response;
    response.status = status;
    response.body = "not to be sent";
    EXPECT_FALSE(sends_body(status, context()));
    EXPECT_EQ(std::string::npos, head(response, context()).find("Content-Length"));
    std::string out;
    StaticAnswer(response).append(out, context());
    EXPECT_TRUE(out.ends_with("\r\n\r\n"));
    EXPECT_EQ(std::string::npos, out.find("not to be sent"));
  }
}

// proves: C-HTTP-08
TEST(ResponseWriter, RefusesWhatCanNotBeSent) {
  const auto fault = [](const std::string& name, const std::string& value, int status = 200) {
    HttpResponse response;
    response.status = status;
    response.headers = {{name, value}};
    return check_response(response) != nullptr;
  };
  EXPECT_FALSE(fault("X-Fine", "any \t value \xc3\xa4"));
  EXPECT_FALSE(fault("X-Fine", ""));
  EXPECT_TRUE(fault("X", "a\r\nSet-Cookie: b"));
  EXPECT_TRUE(fault("X", "a\rb"));
  EXPECT_TRUE(fault("X", "a\nb"));
  EXPECT_TRUE(fault("X", std::string("a\0b", 3)));
  EXPECT_TRUE(fault("X\r\nY", "a"));
  EXPECT_TRUE(fault("X Y", "a"));
  EXPECT_TRUE(fault("X:", "a"));
  EXPECT_TRUE(fault("", "a"));
  for (const char* ours : {"Content-Length", "transfer-encoding", "CONNECTION", "Date"}) EXPECT_TRUE(fault(ours, "1"));
  for (const int status : {-1, 0, 100, 101, 199, 1000}) EXPECT_TRUE(fault("X", "a", status)) << status;
  for (const int status : {200, 299, 418, 599}) EXPECT_FALSE(fault("X", "a", status)) << status;
}

// proves: C-HTTP-12
TEST(ResponseWriter, TheStaticAnswerIsTheSameText) {
  HttpResponse response;
  response.body = "fixed";
  response.headers = {{"Content-Type", "text/plain"}};
  const StaticAnswer fixed(response);
  for (const bool to_head : {false, true}) {
    for (const int minor : {0, 1}) {
      for (const bool close : {false, true}) {
        AnswerContext with = context(to_head, minor, close);
        std::string out;
        fixed.append(out, with);
        EXPECT_EQ(head(response, with) + (to_head ? "" : "fixed"), out);
      }
    }
  }
}

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

// proves: C-HTTP-11
TEST(ResponseWriter, EveryKindOfAnswerCarriesADate) {
  const HttpHandler handler = [](const HttpRequest& request) -> HttpResponse {
    if (request.target == "/throw") throw 5;
    HttpResponse response;
    response.body = "body";
    if (request.target == "/204") response.status = 204;
    if (request.target == "/source") response.source = [](char*, std::size_t) { return std::size_t{0}; };
    return response;
  };
  const std::string all = "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + get("/") + get("/204") + get("/source") +
                          get("/throw") + "GET / HTTP/1.1\r\n\r\n";
  const std::vector<int> statuses = {200, 200, 204, 200, 500, 400};
  HttpDriver by_handler(handler);
  const auto answers = by_handler.exchange(all, {0});
  ASSERT_EQ(statuses.size(), answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(statuses[i], answers[i].status) << i;
    ASSERT_EQ(1U, answers[i].headers.count("date")) << i;
    EXPECT_EQ(29U, answers[i].headers.at("date").size()) << i;
  }
  HttpDriver rendered_once{HttpResponse{}};
  for (const Answer& answer : rendered_once.exchange(get("/") + get("/"))) {
    EXPECT_EQ(1U, answer.headers.count("date"));
  }
}

TEST(HttpFrontends, RefuseWhatTheyCanNotServe) {
  HttpConfig config;
  config.max_headers = 0;
  try {
    StaticHttpFrontend frontend(HttpResponse{}, config);
    FAIL() << "a limit of 0 was accepted";
  } catch (const NetworkError& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("max_headers is 0, expected 1 or more"))
        << error.what();
  }
  HttpResponse bad;
  bad.headers = {{"X", "a\nb"}};
  EXPECT_THROW(StaticHttpFrontend{bad}, NetworkError);
  HttpResponse streamed;
  streamed.source = [](char*, std::size_t) { return std::size_t{0}; };
  EXPECT_THROW(StaticHttpFrontend{streamed}, NetworkError);
  config = {};
  config.idle_deadline = std::chrono::milliseconds(0);
  EXPECT_THROW(config.validate(), NetworkError);
  EXPECT_NO_THROW(HttpConfig{}.validate());
}

}  // namespace
}  // namespace flare::testing
