// Draining one connection (decision 20): which requests are answered, which is the last, what follows it.
#include <string>
#include <vector>

#include "http_driver.h"

namespace flare::testing {
namespace {

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

// Answers with the target and remembers it.
struct Handled {
  std::vector<std::string> targets;
  HttpHandler handler() {
    return [this](const HttpRequest& request) {
      targets.emplace_back(request.target);
      HttpResponse response;
      response.body = std::string(request.target);
      return response;
    };
  }
};

// proves: C-DRAIN-01, C-DRAIN-02, INV-21
TEST(HttpDrain, AnIdleConnectionGetsOneMoreAnswerWithinTheGrace) {
  Handled handled;
  HttpDriver driver(handled.handler());
  driver.exchange(get("/0"));
  driver.drain();
  EXPECT_TRUE(driver.open());
  EXPECT_FALSE(driver.connection().unanswered());
  const auto answers = driver.exchange(get("/1") + get("/2"));
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("/1", answers[0].body);
  EXPECT_TRUE(answers[0].closes());
  EXPECT_TRUE(driver.client_sees_end());
  EXPECT_TRUE(driver.lingers());
  EXPECT_EQ((std::vector<std::string>{"/0", "/1"}), handled.targets);
}

// proves: C-DRAIN-01
TEST(HttpDrain, ASilentConnectionEndsWithTheGrace) {
  Handled handled;
  HttpDriver driver(handled.handler());
  driver.drain();
  driver.grace_over();
  EXPECT_TRUE(driver.lingers());
  EXPECT_EQ(CloseReason::kIdleDrained, driver.step().reason);
}

// proves: C-DRAIN-01
TEST(HttpDrain, TheEndOfTheGraceReadsOnceMore) {
  Handled handled;
  HttpDriver driver(handled.handler());
  driver.drain();
  driver.send(get("/late"));
  driver.grace_over();
  const auto answers = read_answers(driver.read());
  ASSERT_EQ(1U, answers.size());
  EXPECT_TRUE(answers[0].closes());
  EXPECT_EQ(CloseReason::kAnswered, driver.step().reason);

  HttpDriver partial(handled.handler());
  partial.drain();
  partial.send("GET /part");
  partial.grace_over();
  EXPECT_TRUE(partial.open()) << "a part of a request has arrived";
  EXPECT_TRUE(partial.connection().unanswered());
  const auto rest = partial.exchange("ial HTTP/1.1\r\nHost: x\r\n\r\n" + get("/2"));
  ASSERT_EQ(1U, rest.size());
  EXPECT_EQ("/partial", rest[0].body);
  EXPECT_TRUE(rest[0].closes());
}

// proves: C-DRAIN-01, C-DRAIN-02, INV-21
TEST(HttpDrain, ARequestOfWhichAPartWasReadIsReadToItsEnd) {
  Handled handled;
  HttpDriver driver(handled.handler());
  driver.exchange("POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345");
  driver.drain();
  driver.grace_over();
  EXPECT_TRUE(driver.open());
  const auto answers = driver.exchange("67890" + get("/after"));
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("/up", answers[0].body);
  EXPECT_TRUE(answers[0].closes());
  EXPECT_EQ(std::vector<std::string>{"/up"}, handled.targets);
}

// proves: C-DRAIN-01, C-DRAIN-02, INV-21
TEST(HttpDrain, EveryRequestReadWholeIsAnsweredTheLastWithClose) {
  // Draining begins while the first handler runs; the two behind it were read with it.
  Handled handled;
  HttpDriver* reach = nullptr;
  HttpDriver driver([&](const HttpRequest& request) {
    if (request.target == "/1") reach->stop().request();
    return handled.handler()(request);
  });
  reach = &driver;
  driver.send(get("/1") + get("/2") + get("/3") + "GET /par");
  driver.run();
  driver.send("tial HTTP/1.1\r\nHost: x\r\n\r\n");
  driver.drain();
  driver.run();
  const auto answers = read_answers(driver.read());
  ASSERT_EQ(3U, answers.size());
  EXPECT_FALSE(answers[0].closes());
  EXPECT_FALSE(answers[1].closes());
  EXPECT_TRUE(answers[2].closes());
  EXPECT_TRUE(driver.client_sees_end());
  EXPECT_TRUE(driver.lingers());
  EXPECT_EQ((std::vector<std::string>{"/1", "/2", "/3"}), handled.targets);
}

TEST(HttpDrain, TheOnlyRequestInItsHandlerSaysThatItIsTheLast) {
  for (const bool fixed : {false, true}) {
    HttpDriver* reach = nullptr;
    HttpResponse same;
    same.body = "fixed";
    HttpDriver driver = fixed ? HttpDriver(same) : HttpDriver([&](const HttpRequest&) {
      reach->stop().request();
      return HttpResponse{};
    });
    reach = &driver;
    if (fixed) driver.stop().request();
    const auto answers = driver.exchange(get("/1"));
    ASSERT_EQ(1U, answers.size());
    EXPECT_TRUE(answers[0].closes());
    EXPECT_TRUE(driver.lingers());
  }
}

// proves: C-DRAIN-01, INV-21
TEST(HttpDrain, ABacklogIsAnsweredWholeInOrder) {
  Handled handled;
  HttpDriver driver([&](const HttpRequest& request) {
    HttpResponse response = handled.handler()(request);
    if (request.target == "/0") response.body.assign(1 << 20, 'x');
    return response;
  });
  driver.shrink_buffers();
  std::string bytes = get("/0");
  constexpr int kRequests = 2 * http_limits::kRequestsPerTurn;
  for (int i = 1; i < kRequests; ++i) bytes += get("/" + std::to_string(i));
  driver.send(bytes + "GET /not-whole");
  driver.run();
  EXPECT_TRUE(driver.connection().unanswered());
  driver.drain();
  driver.grace_over();
  const auto answers = driver.exchange("");
  ASSERT_EQ(static_cast<std::size_t>(kRequests), answers.size());
  for (std::size_t i = 0; i + 1 < answers.size(); ++i) EXPECT_FALSE(answers[i].closes()) << i;
  EXPECT_TRUE(answers.back().closes());
  EXPECT_TRUE(driver.lingers());
}

// proves: C-DRAIN-02, INV-21
TEST(HttpDrain, BehindAnAnswerUnderWayNothingIsExecuted) {
  Handled handled;
  HttpDriver driver([&](const HttpRequest& request) {
    HttpResponse response = handled.handler()(request);
    response.body.assign(1 << 20, 'x');
    return response;
  });
  driver.shrink_buffers();
  driver.send(get("/0"));
  driver.run();
  driver.drain();
  driver.send(get("/1"));
  driver.grace_over();
  const auto answers = driver.exchange("");
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(1U << 20, answers[0].body.size());
  EXPECT_TRUE(driver.lingers());
  EXPECT_EQ(1U, handled.targets.size());
}

TEST(HttpDrain, AClientThatLeavesDuringTheGraceIsGone) {
  Handled handled;
  HttpDriver driver(handled.handler());
  driver.drain();
  driver.close_client();
  driver.grace_over();
  EXPECT_EQ(Step::Kind::kClose, driver.step().kind);
  EXPECT_EQ(CloseReason::kPeerGone, driver.step().reason);
}

TEST(HttpDrain, CutStopsABatch) {
  HttpDriver* reach = nullptr;
  int handled = 0;
  HttpDriver driver([&](const HttpRequest&) {
    ++handled;
    reach->stop().cut();
    return HttpResponse{};
  });
  reach = &driver;
  driver.send(get("/1") + get("/2"));
  Step step;
  step = driver.connection().on_ready(
      {driver.server_fd(), MonoTime{}, 0, 0, driver.scratch(), driver.scratch_size(), false},
      {true, false, false, false});
  EXPECT_EQ(1, handled);
  EXPECT_TRUE(step.again) << "the loop reads cut and closes";
}

}  // namespace
}  // namespace flare::testing
