// HTTP through the real Scheduler, over TCP on loopback: the peer's address, closing without a reset, draining.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "flare/http/http_frontend.h"
#include "flare/scheduler/scheduler.h"
#include "http_driver.h"
#include "support/deferred.h"
#include "support/line_client.h"
#include "support/own_loopback.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

template <class Handler>
Scheduler<HttpFrontend<Handler>> serve(Handler handler, int workers = 1, const HttpConfig& config = {}) {
  SchedulerOptions options;
  options.listener.defer_accept_s = defer_accept_s();
  return Scheduler<HttpFrontend<Handler>>::start(own_loopback(), HttpFrontend<Handler>(handler, config), workers,
                                                 /*pin_cores=*/false, {}, options);
}

std::uint16_t local_port(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  EXPECT_EQ(0, ::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length));
  return SocketAddress::from_sockaddr(storage).port();
}

TEST(HttpServed, TheHandlerKnowsItsPeer) {
  auto scheduler = serve([](const HttpRequest& request) {
    HttpResponse response;
    response.body = request.peer().to_string() + (request.peer() == request.peer() ? "" : " changed");
    return response;
  });
  LineClient client(scheduler.addresses().front());
  ASSERT_TRUE(client.send(get("/", "Connection: close\r\n")));
  ASSERT_EQ(StreamEnd::kEof, client.await_end());
  const auto answers = read_answers(client.rest());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("127.0.0.1:" + std::to_string(local_port(client.fd())), answers[0].body);
}

// The answer is longer than what the client's kernel holds: that would survive a reset, behind a FIN without a word.
// proves: C-SERVE-07, INV-21
TEST(HttpServed, AnAnswerBeforeUnreadBytesIsNotReset) {
  auto scheduler = serve([](const HttpRequest&) {
    HttpResponse response;
    response.body.assign(16U << 20, 'a');
    return response;
  });
  const std::string behind(200'000, 'x');
  for (const std::string& bytes : {get("/", "Connection: close\r\n") + behind, "GARBAGE\r\n\r\n" + behind,
                                   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n" + behind}) {
    LineClient client(scheduler.addresses().front());
    ASSERT_TRUE(client.send(bytes));
    EXPECT_EQ(StreamEnd::kEof, client.await_end());
    EXPECT_EQ(1U, read_answers(client.rest()).size());
  }
}

// proves: C-DRAIN-01, C-DRAIN-02
TEST(HttpServed, ADrainAnswersWhatWasReadWhileAHandlerRan) {
  std::atomic<bool> entered{false};
  std::atomic<bool> leave{false};
  std::atomic<int> handled{0};
  auto scheduler = serve([&](const HttpRequest& request) {
    ++handled;
    if (request.target == "/1") {
      entered = true;
      wait_until([&] { return leave.load(); });
    }
    HttpResponse response;
    response.body = std::string(request.target);
    return response;
  });
  LineClient client(scheduler.addresses().front());
  ASSERT_TRUE(client.send(get("/1") + get("/2") + get("/3")));
  ASSERT_TRUE(wait_until([&] { return entered.load(); }));
  scheduler.request_stop();
  ASSERT_TRUE(client.send(get("/4")));
  leave = true;
  const auto reports = scheduler.drain(5000);
  EXPECT_EQ(StreamEnd::kEof, client.await_end());
  const auto answers = read_answers(client.rest());
  ASSERT_EQ(3U, answers.size());
  EXPECT_EQ("/3", answers[2].body);
  EXPECT_FALSE(answers[1].closes());
  EXPECT_TRUE(answers[2].closes());
  EXPECT_EQ(3, handled.load());
  ASSERT_EQ(1U, reports.size());
  EXPECT_TRUE(adds_up(reports));
  EXPECT_EQ(0, reports[0].cut);
  EXPECT_EQ(1, reports[0].drained);
}

// "/much" is answered by more than sockets hold, anything else by nothing.
HttpResponse much_or_nothing(const HttpRequest& request) {
  HttpResponse response;
  if (request.target == "/much") response.body = std::string(32 << 20, 'm');
  return response;
}

// Its FIN stays in the socket for as long as the answer does: the worker must not be woken by it.
// field-bugs A07
// proves: C-HTTP-10
TEST(HttpServed, AHalfClosedSlowReaderLeavesItsWorkerQuiet) {
  auto scheduler = serve(much_or_nothing);
  LineClient client(scheduler.addresses().front());
  ASSERT_TRUE(client.send(get("/much")));
  client.finish_sending();
  const auto worker = [&] { return scheduler.stats().front(); };
  ASSERT_TRUE(wait_until([&] { return worker().requests == 1 && worker().sleeping; }));
  const std::uint64_t before = worker().ticks;
  EXPECT_FALSE(wait_until([&] { return worker().ticks > before + 50; }, limits::kPollCap));
  EXPECT_EQ(StreamEnd::kEof, client.await_end());
  const auto answers = read_answers(client.rest());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(std::size_t{32} << 20, answers[0].body.size());
}

// None of them gets on, and none of their own deadlines is near.
// field-bugs E04
// proves: C-DRAIN-04, C-REPORT-03
TEST(HttpServed, ADrainCutsEveryStateAtItsDeadline) {
  HttpConfig config;
  config.head_deadline = config.body_deadline = config.write_deadline = std::chrono::hours(1);
  auto scheduler = serve(much_or_nothing, 1, config);
  const std::string states[] = {"GET / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
                                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha", get("/much"),
                                "GARBAGE\r\n\r\n"};  // it is told, and lingers
  std::vector<LineClient> clients;
  for (const std::string& bytes : states) {
    clients.emplace_back(scheduler.addresses().front());
    ASSERT_TRUE(clients.back().send(bytes));
  }
  EXPECT_EQ("HTTP/1.1 400 Bad Request\r", clients.back().line());
  ASSERT_TRUE(wait_until([&] { return scheduler.stats().front().requests == 1; }));
  const auto reports = scheduler.drain(100);
  for (LineClient& client : clients) EXPECT_NE(StreamEnd::kOpen, client.await_end());
  ASSERT_EQ(1U, reports.size());
  EXPECT_TRUE(adds_up(reports));
  // On a machine so slow that it lingered to its end before, it was finished.
  const auto told = reports[0].by_reason[static_cast<std::size_t>(CloseReason::kProtocolError)];
  EXPECT_EQ(5, reports[0].in_flight_at_deadline + told);
  EXPECT_EQ(told, reports[0].finished);
  if (reports[0].stuck == 0) {
    EXPECT_EQ(0, reports[0].left);
  }
}

// No request is executed without being answered, whenever the drain strikes.
// proves: C-DRAIN-01, INV-21
TEST(HttpServed, ExecutedEqualsAnswered) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> executed{0};
    auto scheduler = serve(
        [&](const HttpRequest&) {
          ++executed;
          return HttpResponse{};
        },
        2);
    const SocketAddress address = scheduler.addresses().front();
    std::atomic<int> answered{0};
    std::atomic<int> resets{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&] {
        LineClient client(address);
        while (client.connected() && client.send(get("/"))) {
          std::optional<std::string> line = client.line();
          if (!line) break;
          answered += line->starts_with("HTTP/1.1 200") ? 1 : 0;
          while (line && *line != "\r") line = client.line();
        }
        resets += client.await_end() == StreamEnd::kReset ? 1 : 0;
      });
    }
    EXPECT_TRUE(wait_until([&] { return answered.load() >= 400; }));
    const auto reports = scheduler.drain(5000);
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(executed.load(), answered.load());
    EXPECT_EQ(0, resets.load());
    EXPECT_TRUE(adds_up(reports));
  }
}

}  // namespace
}  // namespace flare::testing
