// One connection: order, keep-alive, partial reads, half-closed clients, and how it closes.
#include <csignal>
#include <string>
#include <vector>

#include "flare/base/network_error.h"
#include "flare/http/http_connection.h"
#include "flare/reactor/event.h"
#include "http_driver.h"

namespace flare::testing {
namespace {

HttpResponse text(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

HttpHandler echo_target() {
  return [](const HttpRequest& request) { return text(std::string(request.target)); };
}

std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

// proves: C-HTTP-01
TEST(HttpConnection, KeepsAliveAndAnswersInOrder) {
  HttpDriver driver(echo_target());
  for (const char* target : {"/1", "/2"}) {
    const auto answers = driver.exchange(get(target));
    ASSERT_EQ(1U, answers.size());
    EXPECT_EQ(target, answers[0].body);
    EXPECT_EQ(0U, answers[0].headers.count("connection"));
    EXPECT_EQ(29U, answers[0].headers.at("date").size());
  }
  const auto answers = driver.exchange(get("/3") + get("/4") + get("/5"));
  ASSERT_EQ(3U, answers.size());
  EXPECT_EQ("/3", answers[0].body);
  EXPECT_EQ("/4", answers[1].body);
  EXPECT_EQ("/5", answers[2].body);
  EXPECT_TRUE(driver.open());
  EXPECT_EQ(5U, driver.stats().requests.get());
}

TEST(HttpConnection, OneCallPerReadAndTheSameInterest) {
  HttpDriver driver(echo_target());
  const int before = driver.calls();
  driver.exchange(get("/1") + get("/2") + get("/3"));
  EXPECT_EQ(before + 1, driver.calls());
  EXPECT_EQ(INTEREST_READ, driver.step().interest);
}

// proves: C-HTTP-01
TEST(HttpConnection, ALongPipelineIsServedInBoundedTurns) {
  HttpDriver driver(echo_target());
  constexpr int kRequests = 5 * http_limits::kRequestsPerTurn + 3;
  std::string bytes;
  for (int i = 0; i < kRequests; ++i) bytes += get("/" + std::to_string(i));
  const int before = driver.calls();
  const auto answers = driver.exchange(bytes);
  ASSERT_EQ(static_cast<std::size_t>(kRequests), answers.size());
  for (int i = 0; i < kRequests; ++i) EXPECT_EQ("/" + std::to_string(i), answers[static_cast<std::size_t>(i)].body);
  EXPECT_GE(driver.calls() - before, 6);
  EXPECT_FALSE(driver.connection().unanswered());
}

// proves: C-HTTP-02
TEST(HttpConnection, ByteByByte) {
  HttpDriver driver([](const HttpRequest& request) { return text(std::string(request.body)); });
  const std::string bytes =
      "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n";
  std::string received;
  for (const char c : bytes) {
    driver.send(std::string(1, c));
    driver.run();
    received += driver.read();
  }
  const auto answers = read_answers(received);
  ASSERT_EQ(2U, answers.size());
  EXPECT_EQ("abc", answers[0].body);
  EXPECT_EQ("def", answers[1].body);
}

// proves: C-HTTP-01
TEST(HttpConnection, ClosesWhereTheClientOrTheHandlerWantsIt) {
  for (const std::string& bytes : {get("/", "Connection: close\r\n"), std::string("GET / HTTP/1.0\r\n\r\n")}) {
    HttpDriver driver(echo_target());
    const auto answers = driver.exchange(bytes);
    ASSERT_EQ(1U, answers.size());
    EXPECT_TRUE(answers[0].closes());
    EXPECT_EQ(Step::Kind::kClose, driver.step().kind) << "the client asked, nothing is unread";
    EXPECT_EQ(CloseReason::kAnswered, driver.step().reason);
  }
  HttpDriver driver([](const HttpRequest&) {
    HttpResponse response;
    response.close = true;
    return response;
  });
  const auto answers = driver.exchange(get("/1") + get("/2"));
  ASSERT_EQ(1U, answers.size());
  EXPECT_TRUE(answers[0].closes());
  EXPECT_TRUE(driver.lingers());
}

// proves: C-SERVE-07
TEST(HttpConnection, LingersWhenBytesStandBehindTheLastRequest) {
  HttpDriver driver(echo_target());
  const auto answers = driver.exchange(get("/1", "Connection: close\r\n") + get("/2"));
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("/1", answers[0].body);
  EXPECT_TRUE(driver.lingers());
}

// proves: C-HTTP-01
TEST(HttpConnection, Http10KeepsAliveWhenAsked) {
  HttpDriver driver(echo_target());
  const auto answers = driver.exchange("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("keep-alive", answers[0].headers.at("connection"));
  EXPECT_TRUE(driver.open());
}

// proves: C-HTTP-03
TEST(HttpConnection, HeadAnd204CarryNoBody) {
  HttpDriver driver([](const HttpRequest& request) {
    HttpResponse response = text("body");
    if (request.target == "/204") response.status = 204;
    return response;
  });
  const auto answers = driver.exchange("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + get("/204") + get("/"), {0});
  ASSERT_EQ(3U, answers.size());
  EXPECT_EQ("4", answers[0].headers.at("content-length"));
  EXPECT_EQ(204, answers[1].status);
  EXPECT_EQ("body", answers[2].body);
}

// proves: C-HTTP-10
TEST(HttpConnection, AHalfClosedClientGetsItsAnswers) {
  HttpDriver driver(echo_target());
  driver.send(get("/1") + get("/2"));
  driver.send_end();
  driver.run();
  const auto answers = read_answers(driver.read());
  ASSERT_EQ(2U, answers.size());
  EXPECT_TRUE(driver.client_sees_end());
  EXPECT_EQ(Step::Kind::kClose, driver.step().kind);
  EXPECT_LT(driver.calls(), 10);
}

// proves: C-HTTP-10
TEST(HttpConnection, AHalfClosedClientWithHalfARequestIsRefused) {
  HttpDriver driver(echo_target());
  driver.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nonly this");
  driver.send_end();
  driver.run();
  const auto answers = read_answers(driver.read());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(400, answers[0].status);
  EXPECT_TRUE(driver.client_sees_end());
  EXPECT_EQ(Step::Kind::kClose, driver.step().kind);
  EXPECT_EQ(0U, driver.stats().requests.get());
}

volatile std::sig_atomic_t signals_seen = 0;

// proves: C-HTTP-10
TEST(HttpConnection, AClientThatIsGoneRaisesNoSignal) {
  struct sigaction before{};
  struct sigaction counting{};
  counting.sa_handler = [](int) { signals_seen = 1; };
  ASSERT_EQ(0, ::sigaction(SIGPIPE, &counting, &before));
  for (const bool last : {false, true}) {
    HttpDriver driver([](const HttpRequest&) { return text(std::string(1 << 20, 'x')); });
    driver.shrink_buffers();
    driver.send(last ? "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" : get("/"));
    driver.run();
    driver.close_client();
    driver.run();
    EXPECT_EQ(0, signals_seen) << "SIGPIPE ends a program that has not asked for anything else";
    EXPECT_EQ(Step::Kind::kClose, driver.step().kind);
    EXPECT_EQ(CloseReason::kPeerGone, driver.step().reason);
  }
  ::sigaction(SIGPIPE, &before, nullptr);
}

// proves: C-HTTP-08
TEST(HttpConnection, AThrowOrABadHeaderIs500AndTheConnectionLives) {
  HttpDriver driver([](const HttpRequest& request) -> HttpResponse {
    if (request.target == "/throw") throw std::runtime_error("the text stays in the process");
    if (request.target == "/int") throw 5;
    HttpResponse response = text("fine");
    if (request.target == "/inject") response.headers = {{"X", "a\r\nY: b"}};
    return response;
  });
  const auto answers = driver.exchange(get("/throw") + get("/int") + get("/inject") + get("/"));
  ASSERT_EQ(4U, answers.size());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(500, answers[static_cast<std::size_t>(i)].status);
    EXPECT_EQ("Internal Server Error\n", answers[static_cast<std::size_t>(i)].body);
  }
  EXPECT_EQ("fine", answers[3].body);
  EXPECT_EQ(3U, driver.stats().handler_errors.get());
  EXPECT_TRUE(driver.open());
}

// proves: C-HTTP-04
TEST(HttpConnection, ContinueIsSentBeforeTheBodyAndOnlyThen) {
  HttpDriver driver([](const HttpRequest& request) { return text(std::string(request.body)); });
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
  auto answers = driver.exchange(head);
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(100, answers[0].status);
  answers = driver.exchange("hi");
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("hi", answers[0].body);
  answers = driver.exchange(head + "yo");
  ASSERT_EQ(1U, answers.size()) << "the body is there: no 100";
  EXPECT_EQ("yo", answers[0].body);
  answers = driver.exchange("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(100, answers[0].status);
  answers = driver.exchange("2\r\nhi\r\n0\r\n\r\n");
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("hi", answers[0].body);
  answers = driver.exchange("GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_EQ(1U, answers.size()) << "no body, no 100";
  EXPECT_EQ(200, answers[0].status);
}

// proves: C-HTTP-04
TEST(HttpConnection, ABodyThatWouldBeRefusedIsNotAskedFor) {
  HttpDriver driver(echo_target());
  const auto answers =
      driver.exchange("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(413, answers[0].status);
  EXPECT_TRUE(answers[0].closes());
  EXPECT_TRUE(driver.lingers());
}

TEST(HttpConnection, TheHandlerSeesItsWorkerAndItsHeaders) {
  HttpConfig config;
  config.worker_headers = true;
  std::string seen;
  HttpDriver driver(
      [&](const HttpRequest& request) {
        seen = std::to_string(request.accepted_by) + ">" + std::to_string(request.worker) + " " +
               std::string(request.header("x-Y")) + std::string(request.header("absent"));
        return HttpResponse{};
      },
      config);
  const auto answers = driver.exchange(get("/", "X-y: z\r\n"));
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("0>1 z", seen);
  EXPECT_EQ("0", answers[0].headers.at("x-flare-accepted-by"));
  EXPECT_EQ("1", answers[0].headers.at("x-flare-worker"));
}

// proves: C-HTTP-12
TEST(HttpConnection, TheStaticAnswerFollowsTheSameRules) {
  HttpDriver driver(text("fixed"));
  auto answers = driver.exchange(get("/1") + "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + get("/2"), {1});
  ASSERT_EQ(3U, answers.size());
  EXPECT_EQ("fixed", answers[2].body);
  answers =
      driver.exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + get("/", "Connection: close\r\n"));
  ASSERT_EQ(2U, answers.size());
  EXPECT_TRUE(answers[1].closes());
  EXPECT_EQ(Step::Kind::kClose, driver.step().kind);

  HttpDriver refused(text("fixed"));
  answers = refused.exchange("GET / HTTP/1.1\r\n\r\n" + get("/"));
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(400, answers[0].status);
}

TEST(HttpConnection, AnIdleConnectionHoldsNoBuffers) {
  // Two buffers inside the object (short strings) and no memory behind them.
  EXPECT_LE(sizeof(HttpConnection), 400U);
}

}  // namespace
}  // namespace flare::testing
