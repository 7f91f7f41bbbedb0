// The last answer of a connection and the end of its stream, over TCP on loopback: one segment.
#include <gtest/gtest.h>
#include <linux/tcp.h>  // its tcp_info is longer than that of netinet/tcp.h
#include <netinet/in.h>

#include <string>

#include "flare/http/http_frontend.h"
#include "flare/scheduler/scheduler.h"
#include "http_driver.h"
#include "support/line_client.h"
#include "support/own_loopback.h"

namespace flare::testing {
namespace {

// What came so far, the handshake's included.
unsigned segments_in(const LineClient& client) {
  tcp_info info{};
  socklen_t length = sizeof info;
  EXPECT_EQ(0, ::getsockopt(client.fd(), IPPROTO_TCP, TCP_INFO, &info, &length));
  return info.tcpi_segs_in;
}

Scheduler<HttpFrontend<HttpHandler>> serve(const HttpHandler& handler) {
  return Scheduler<HttpFrontend<HttpHandler>>::start(own_loopback(), HttpFrontend<HttpHandler>(handler), 1,
                                                     /*pin_cores=*/false, {}, {});
}

// proves: C-HTTP-14
TEST(LastAnswer, BringsTheEndOfTheStreamInItsOwnSegment) {
  auto scheduler = serve([](const HttpRequest&) { return HttpResponse{}; });
  for (int i = 0; i < 10; ++i) {
    LineClient kept(scheduler.addresses().front());
    ASSERT_TRUE(kept.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    ASSERT_EQ(kept.line(), "HTTP/1.1 200 OK\r");
    for (const char* last :
         {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "BROKEN\r\n\r\n"}) {
      LineClient closed(scheduler.addresses().front());
      ASSERT_TRUE(closed.send(last));
      ASSERT_EQ(closed.await_end(), StreamEnd::kEof);
      EXPECT_EQ(read_answers(closed.rest()).size(), 1U);
      EXPECT_EQ(segments_in(closed), segments_in(kept)) << last;
    }
  }
}

// proves: C-HTTP-12, C-HTTP-14
TEST(LastAnswer, OfAStaticFrontendDoesSoToo) {
  auto scheduler = Scheduler<StaticHttpFrontend>::start(own_loopback(), StaticHttpFrontend(HttpResponse{}), 1,
                                                        /*pin_cores=*/false, {}, {});
  LineClient kept(scheduler.addresses().front());
  ASSERT_TRUE(kept.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_EQ(kept.line(), "HTTP/1.1 200 OK\r");
  LineClient closed(scheduler.addresses().front());
  ASSERT_TRUE(closed.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  ASSERT_EQ(closed.await_end(), StreamEnd::kEof);
  EXPECT_EQ(segments_in(closed), segments_in(kept));
}

// proves: C-HTTP-14
TEST(LastAnswer, OfAnySizeComesWholeAndEnds) {
  auto scheduler = serve([](const HttpRequest& request) {
    HttpResponse response;
    response.body = std::string(static_cast<std::size_t>(std::stoul(std::string(request.target.substr(1)))), 'x');
    return response;
  });
  for (const std::size_t size : {0UL, 1UL, 65'000UL, 66'000UL, 1'000'000UL, 20'000'000UL}) {
    LineClient client(scheduler.addresses().front());
    ASSERT_TRUE(client.send("GET /" + std::to_string(size) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    ASSERT_EQ(client.await_end(), StreamEnd::kEof);
    const auto answers = read_answers(client.rest());
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].body.size(), size);
  }
}

}  // namespace
}  // namespace flare::testing
