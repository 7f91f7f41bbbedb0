// What a connection holds between requests: nothing of what it read or sent before.
#include <string>

#include "flare/http/http_config.h"
#include "flare/reactor/event.h"
#include "http_driver.h"
#include "support/live_heap.h"

namespace flare::testing {
namespace {

constexpr std::size_t kBig = 1'000'000;
constexpr std::ptrdiff_t kSmall = 16 << 10;  // far above what one request leaves behind, far below kBig

HttpHandler answer_with(std::size_t bytes) {
  return [bytes](const HttpRequest& request) {
    HttpResponse response;
    response.body = request.target == "/big" ? std::string(bytes, 'x') : "ok";
    return response;
  };
}

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

std::string post(std::size_t bytes) {
  return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
         std::string(bytes, 'x');
}

// The growth of the heap from one quiet moment to the next. What a first request allocates for good is not counted.
template <class Act>
std::ptrdiff_t growth(HttpDriver& driver, Act act) {
  driver.exchange(get("/"));
  driver.received().clear();
  driver.received().shrink_to_fit();
  const std::size_t before = live_heap_bytes();
  act();
  driver.received().clear();
  driver.received().shrink_to_fit();
  return static_cast<std::ptrdiff_t>(live_heap_bytes()) - static_cast<std::ptrdiff_t>(before);
}

// proves: C-HTTP-13
TEST(HttpMemory, ABodyThatWasAnsweredIsGivenBack) {
  HttpDriver driver(answer_with(kBig));
  const std::ptrdiff_t grown = growth(driver, [&] { EXPECT_EQ(1U, driver.exchange(post(kBig)).size()); });
  EXPECT_LT(grown, kSmall);
  EXPECT_TRUE(driver.open());
}

// proves: C-HTTP-13
TEST(HttpMemory, TheFirstBytesOfTheNextRequestDoNotKeepTheBodyBeforeThem) {
  HttpDriver driver(answer_with(kBig));
  const std::string next = get("/");
  const std::string bytes = post(kBig) + next.substr(0, 9);
  const std::ptrdiff_t grown = growth(driver, [&] { EXPECT_EQ(1U, driver.exchange(bytes).size()); });
  EXPECT_LT(grown, kSmall);
  EXPECT_EQ(1U, driver.exchange(next.substr(9)).size());
}

// proves: C-HTTP-13
TEST(HttpMemory, AnAnswerThatASlowReaderTookIsGivenBack) {
  HttpDriver driver(answer_with(kBig));
  driver.shrink_buffers();
  const std::ptrdiff_t grown = growth(driver, [&] { EXPECT_EQ(1U, driver.exchange(get("/big")).size()); });
  EXPECT_LT(grown, kSmall);
  EXPECT_TRUE(driver.open());
}

// The buffer is the worker's, so it may keep what one turn needs, and no more.
// proves: C-HTTP-13
TEST(HttpMemory, AnAnswerThatTheSocketTookAtOnceIsGivenBack) {
  constexpr std::size_t kAnswer = 3 * http_limits::kBatchBytes;
  HttpDriver driver(answer_with(kAnswer));
  const int buffer = driver.grow_buffers(2 * kAnswer);
  if (buffer < static_cast<int>(2 * kAnswer))
    GTEST_SKIP() << "the system allows a buffer of " << buffer << " bytes only";
  const std::ptrdiff_t grown = growth(driver, [&] {
    driver.send(get("/big"));
    driver.run();
    EXPECT_EQ(INTEREST_READ, driver.step().interest) << "the socket did not take it at once";
    EXPECT_GT(driver.read().size(), kAnswer);
  });
  EXPECT_LT(grown, kSmall);
}

}  // namespace
}  // namespace flare::testing
