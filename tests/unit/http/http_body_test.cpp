// Bodies by callback and slow readers: one buffer ahead, never more; what a source that throws does.
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "flare/reactor/event.h"
#include "http_driver.h"

namespace flare::testing {
namespace {

std::string get(const std::string& target = "/", const std::string& version = "1.1") {
  return "GET " + target + " HTTP/" + version + "\r\nHost: x\r\n\r\n";
}

// A source of `total` bytes that counts what it gave.
struct Counted {
  std::size_t total;
  std::size_t given = 0;
  BodySource source() {
    return [this](char* data, std::size_t size) {
      const std::size_t count = std::min(size, total - given);
      for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<char>('a' + (given + i) % 26);
      given += count;
      return count;
    };
  }
  std::string whole() const {
    std::string all(total, '\0');
    for (std::size_t i = 0; i < total; ++i) all[i] = static_cast<char>('a' + i % 26);
    return all;
  }
};

// proves: C-HTTP-09
TEST(HttpBody, ASlowReaderIsNeverMoreThanOneBufferBehind) {
  Counted counted{3'000'000};
  HttpDriver driver([&](const HttpRequest& request) {
    HttpResponse response;
    if (request.target != "/") return response;
    response.source = counted.source();
    response.source_length = 3'000'000;
    return response;
  });
  driver.shrink_buffers();
  driver.send(get() + get("/never-read-while-the-first-is-unsent"));
  driver.run();
  std::string received;
  std::size_t ahead = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string part = driver.read();
    if (part.empty()) break;
    received += part;
    ahead = std::max(ahead, counted.given - std::min(counted.given, received.size()));
    if (counted.given < counted.total) {
      EXPECT_EQ(INTEREST_WRITE, driver.step().interest);
      EXPECT_EQ(1U, driver.stats().requests.get());
    }
    driver.run();
  }
  EXPECT_LT(ahead, http_limits::kSourceBytes + 64 * 1024) << "one buffer of ours and the kernel's";
  const auto answers = read_answers(received);
  ASSERT_EQ(2U, answers.size());
  EXPECT_TRUE(answers[0].body == counted.whole());
  EXPECT_EQ(INTEREST_READ, driver.step().interest);
}

// proves: C-HTTP-11
TEST(HttpBody, UnknownLengthIsChunkedOrEndsWithTheConnection) {
  Counted first{100'000};
  HttpDriver driver([&](const HttpRequest&) {
    HttpResponse response;
    response.source = first.source();
    return response;
  });
  auto answers = driver.exchange(get());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("chunked", answers[0].headers.at("transfer-encoding"));
  EXPECT_TRUE(answers[0].body == first.whole());
  EXPECT_TRUE(driver.open());
  first.given = 0;
  answers = driver.exchange(get("/", "1.0"));
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(0U, answers[0].headers.count("transfer-encoding"));
  EXPECT_TRUE(answers[0].body == first.whole());
  EXPECT_TRUE(answers[0].closes());
  EXPECT_FALSE(driver.open());
}

// proves: C-HTTP-03
TEST(HttpBody, HeadNeverAsksTheSource) {
  Counted counted{10};
  HttpDriver driver([&](const HttpRequest&) {
    HttpResponse response;
    response.source = counted.source();
    response.source_length = 10;
    return response;
  });
  const auto answers = driver.exchange("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", {0});
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ("10", answers[0].headers.at("content-length"));
  EXPECT_EQ(0U, counted.given);
}

// A source that fills whatever room it gets is asked for what is left of its length, and no more.
// proves: C-HTTP-03
TEST(HttpBody, ASourceIsNeverAskedForMoreThanItsLength) {
  HttpDriver driver([](const HttpRequest&) {
    HttpResponse response;
    response.source_length = 100'000;
    response.source = [](char* data, std::size_t size) {
      std::fill_n(data, size, 'x');
      return size;
    };
    return response;
  });
  const auto answers = driver.exchange(get() + get());
  ASSERT_EQ(2U, answers.size());
  for (const Answer& answer : answers) EXPECT_TRUE(answer.body == std::string(100'000, 'x')) << answer.body.size();
}

// However small its pieces are, a source does not keep its worker: the others have their turn in between.
// proves: C-HTTP-08
TEST(HttpBody, ASourceIsAskedSoManyTimesInATurn) {
  HttpDriver* of = nullptr;
  std::map<int, int> asked;  // call of the connection -> times
  HttpDriver driver([&](const HttpRequest&) {
    HttpResponse response;
    response.source = [&, left = 100](char* data, std::size_t) mutable -> std::size_t {
      ++asked[of->calls()];
      *data = 'x';
      return left-- > 0 ? 1 : 0;
    };
    return response;
  });
  of = &driver;
  const auto answers = driver.exchange(get());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(100U, answers[0].body.size());
  asked.erase(asked.begin());  // the first piece goes with the head
  asked.erase(std::prev(asked.end()));
  EXPECT_GE(asked.size(), 4U);
  for (const auto& [call, times] : asked) EXPECT_EQ(http_limits::kPullsPerTurn, times) << "call " << call;
}

// proves: C-HTTP-08
TEST(HttpBody, ASourceThatThrowsAtOnceIs500AndLaterIsCut) {
  std::size_t good = 0;
  HttpDriver driver([&](const HttpRequest&) {
    HttpResponse response;
    response.source = [&, left = good](char* data, std::size_t size) mutable -> std::size_t {
      if (left == 0) throw std::runtime_error("no more");
      --left;
      std::fill_n(data, size, 'x');
      return size;
    };
    return response;
  });
  auto answers = driver.exchange(get());
  ASSERT_EQ(1U, answers.size());
  EXPECT_EQ(500, answers[0].status);
  EXPECT_TRUE(driver.open()) << "nothing of the answer had been sent";
  EXPECT_EQ(1U, driver.stats().handler_errors.get());

  good = 2;
  driver.send(get() + get("/never"));
  driver.run();
  EXPECT_EQ(CloseReason::kHandlerThrew, driver.step().reason);
  EXPECT_FALSE(driver.open());
  EXPECT_EQ(2U, driver.stats().handler_errors.get());
  const std::string received = driver.read();
  EXPECT_TRUE(received.starts_with("HTTP/1.1 200 OK"));
  EXPECT_EQ(std::string::npos, received.find("0\r\n\r\n")) << "a cut body must not look whole";
  EXPECT_EQ(2U, driver.stats().requests.get());
}

// proves: C-HTTP-08
TEST(HttpBody, ASourceThatEndsEarlyIsCut) {
  HttpDriver driver([](const HttpRequest&) {
    HttpResponse response;
    response.source_length = 100;
    response.source = [done = false](char* data, std::size_t) mutable -> std::size_t {
      if (done) return 0;
      done = true;
      data[0] = 'x';
      return 1;
    };
    return response;
  });
  driver.send(get());
  driver.run();
  EXPECT_EQ(CloseReason::kHandlerThrew, driver.step().reason);
  EXPECT_EQ(1U, driver.stats().handler_errors.get());
}

// proves: C-HTTP-02
TEST(HttpBody, ALargeUploadArrivesWhole) {
  std::string seen;
  HttpDriver driver([&](const HttpRequest& request) {
    seen = std::string(request.body);
    return HttpResponse{};
  });
  std::string body(1 << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31);
  auto answers = driver.exchange("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n" + body);
  ASSERT_EQ(1U, answers.size());
  EXPECT_TRUE(seen == body);
  std::string chunks;
  for (std::size_t at = 0; at < body.size(); at += 4096) chunks += "1000\r\n" + body.substr(at, 4096) + "\r\n";
  answers = driver.exchange("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n");
  ASSERT_EQ(1U, answers.size());
  EXPECT_TRUE(seen == body);
  EXPECT_TRUE(driver.open());
}

// proves: C-HTTP-09
TEST(HttpBody, WhileAnAnswerIsUnsentNothingIsRead) {
  int handled = 0;
  HttpDriver driver([&](const HttpRequest&) {
    ++handled;
    HttpResponse response;
    response.body = std::string(1 << 20, 'x');
    return response;
  });
  driver.shrink_buffers();
  driver.send(get());
  driver.run();
  EXPECT_EQ(INTEREST_WRITE, driver.step().interest);
  driver.send(get());
  const int before = driver.calls();
  driver.run();
  EXPECT_EQ(before, driver.calls()) << "nothing is ready: the loop sleeps";
  EXPECT_EQ(1, handled);
  const auto answers = driver.exchange("");
  EXPECT_EQ(2U, answers.size());
  EXPECT_EQ(2, handled);
}

}  // namespace
}  // namespace flare::testing
