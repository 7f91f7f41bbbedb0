// Deadlines: which one runs when, what a late client gets, and that a held-up worker blames nobody.
#include <string>

#include "flare/kernel/system_kernel.h"
#include "flare/reactor/event.h"
#include "http_driver.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kHead{1000}, kBody{2000}, kIdle{4000}, kWrite{3000};

HttpConfig config() {
  HttpConfig made;
  made.head_deadline = kHead;
  made.body_deadline = kBody;
  made.idle_deadline = kIdle;
  made.write_deadline = kWrite;
  return made;
}

HttpHandler ok() {
  return [](const HttpRequest&) { return HttpResponse{}; };
}

const std::string kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

// proves: C-HTTP-07
TEST(HttpDeadline, ANewSilentConnectionClosesSilently) {
  HttpDriver driver(ok(), config());
  EXPECT_EQ(kHead, driver.until_deadline());
  driver.pass(kHead);
  EXPECT_EQ("", driver.read());
  EXPECT_TRUE(driver.client_sees_end());
  EXPECT_EQ(CloseReason::kDeadline, driver.step().reason);
}

// proves: C-HTTP-07
TEST(HttpDeadline, TheHeadsIsAbsoluteFromTheStartOfTheConnection) {
  HttpDriver driver(ok(), config());
  driver.pass(kHead / 2);
  for (int i = 0; i < 4; ++i) {
    driver.send(std::string(1, kGet[static_cast<std::size_t>(i)]));
    driver.run();
    driver.pass(kHead / 10);
  }
  EXPECT_EQ(kHead / 10, driver.until_deadline()) << "dribbling bytes buy no time";
  driver.pass(kHead / 10);
  const auto answers = read_answers(driver.read());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(408, answers[0].status);
  EXPECT_TRUE(answers[0].closes());
  EXPECT_TRUE(driver.lingers());
  EXPECT_EQ(CloseReason::kDeadline, driver.step().reason);
}

// proves: C-HTTP-07
TEST(HttpDeadline, ALaterHeadsRunsFromItsFirstByte) {
  HttpDriver driver(ok(), config());
  driver.exchange(kGet);
  EXPECT_EQ(kIdle, driver.until_deadline());
  driver.pass(kIdle / 2);
  EXPECT_TRUE(driver.exchange("G").empty());
  EXPECT_EQ(kHead, driver.until_deadline());
  driver.pass(kHead / 2);
  driver.exchange("E");
  EXPECT_EQ(kHead / 2, driver.until_deadline());
}

// proves: C-HTTP-07
TEST(HttpDeadline, ABodysMovesWithProgress) {
  HttpDriver driver(ok(), config());
  driver.exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(kBody, driver.until_deadline());
    driver.pass(kBody / 2);
    driver.exchange("x");
  }
  driver.pass(kBody);
  const auto answers = read_answers(driver.read());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(408, answers[0].status);
}

// proves: C-HTTP-07
TEST(HttpDeadline, AnIdleConnectionClosesSilentlyAndKeepsItsAnswers) {
  HttpDriver driver(ok(), config());
  driver.exchange(kGet + "\r\n");
  EXPECT_EQ(kIdle, driver.until_deadline()) << "an empty line begins no request";
  driver.pass(kIdle);
  EXPECT_EQ("", driver.read());
  EXPECT_TRUE(driver.client_sees_end());
  EXPECT_TRUE(driver.lingers());
}

// proves: C-HTTP-07
TEST(HttpDeadline, AReaderThatStopsIsGivenUp) {
  HttpDriver driver(
      [](const HttpRequest&) {
        HttpResponse response;
        response.body = std::string(1 << 20, 'x');
        return response;
      },
      config());
  driver.shrink_buffers();
  driver.send(kGet);
  driver.run();
  EXPECT_EQ(kWrite, driver.until_deadline());
  driver.pass(kWrite / 2);
  driver.read();
  driver.run();
  EXPECT_EQ(kWrite, driver.until_deadline()) << "progress moves it";
  driver.pass(kWrite);
  EXPECT_FALSE(driver.open());
  EXPECT_EQ(CloseReason::kDeadline, driver.step().reason);
}

// Whatever the client must do next, it can do only after the handler, or the source of a body, has returned.
// field-bugs A19
// proves: C-HTTP-07
TEST(HttpDeadline, TheTimeOfAHandlerIsNotTakenFromItsClient) {
  const auto take_long = [] {
    const MonoTime over = SystemKernel::now() + milliseconds(20);
    wait_until([&] { return SystemKernel::now() >= over; });
  };
  std::size_t size = 0;
  bool by_source = false;
  int pieces = 0;
  HttpHandler handler = [&](const HttpRequest&) {
    HttpResponse response;
    if (!by_source) {
      take_long();
      response.body = std::string(size, 'x');
    } else {
      response.source = [&](char*, std::size_t room) {
        take_long();
        ++pieces;
        return room;
      };
    }
    return response;
  };
  HttpDriver idle(handler, config());
  idle.exchange(kGet);
  EXPECT_EQ(kIdle, idle.until_deadline());
  HttpDriver head(handler, config());
  head.exchange(kGet + "GET");
  EXPECT_EQ(kHead, head.until_deadline());
  for (const bool source : {false, true}) {
    size = 1 << 20;
    by_source = source;
    HttpDriver writing(handler, config());
    writing.shrink_buffers();
    writing.send(kGet);
    writing.run();
    EXPECT_EQ(writing.step().interest, INTEREST_WRITE);
    EXPECT_EQ(kWrite, writing.until_deadline());
    if (!source) continue;
    const int before = pieces;
    EXPECT_TRUE(wait_until([&] {  // the next piece was asked for
      writing.read();
      writing.run();
      return pieces > before;
    }));
    EXPECT_EQ(kWrite, writing.until_deadline());
  }
}

// field-bugs A19
// proves: C-HTTP-07
TEST(HttpDeadline, TheTimeOfEveryPieceOfATurnCounts) {
  HttpHandler handler = [](const HttpRequest&) {
    HttpResponse response;
    response.source = [left = 4](char* to, std::size_t) mutable -> std::size_t {
      const MonoTime over = SystemKernel::now() + milliseconds(5);
      wait_until([&] { return SystemKernel::now() >= over; });
      if (--left == 0) return 0;
      *to = 'x';
      return 1;
    };
    return response;
  };
  HttpDriver driver(handler, config());
  driver.exchange(kGet);
  EXPECT_EQ(kIdle, driver.until_deadline());
}

TEST(HttpDeadline, BytesThatAreThereCountEvenWhenTheWorkerIsLate) {
  HttpDriver driver(ok(), config());
  driver.send(kGet);
  driver.pass(kHead * 10);  // the worker was held up; the deadline comes before the event
  auto answers = read_answers(driver.read());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(200, answers[0].status);
  EXPECT_TRUE(driver.open());
  driver.send(kGet);
  driver.pass(kIdle * 10);
  answers = read_answers(driver.read());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(200, answers[0].status);
}

// proves: C-HTTP-07
TEST(HttpDeadline, MoreThanOneTurnOfRequestsIsNoReasonToCloseEither) {
  HttpDriver driver(ok(), config());
  const int requests = http_limits::kRequestsPerTurn + 1;
  std::string bytes;
  for (int i = 0; i < requests; ++i) bytes += kGet;
  driver.send(bytes);
  driver.pass(kHead * 10);
  EXPECT_TRUE(driver.step().again) << "the rest has its turn";
  driver.run();
  EXPECT_EQ(static_cast<std::size_t>(requests), read_answers(driver.read()).size());
  EXPECT_TRUE(driver.open());
}

// proves: C-HTTP-07
TEST(HttpDeadline, AClientThatIsGoneIsNotSaidToBeLate) {
  HttpDriver driver(ok(), config());
  driver.close_client();
  driver.pass(kHead * 10);
  EXPECT_FALSE(driver.open());
  EXPECT_EQ(CloseReason::kPeerGone, driver.step().reason);
}

}  // namespace
}  // namespace flare::testing
