// What flare-serve answers with --handler path, and what a line of its live figures holds.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "serve/handlers.h"
#include "serve/live_stats.h"

namespace flare::testing {
namespace {

HttpResponse ask(std::string_view target, std::string_view body = {}) {
  tools::ServeOptions options;
  options.handler = tools::HandlerKind::kPath;
  options.text = "hello";
  HttpRequest request;
  request.method = "GET";
  request.target = target;
  request.body = body;
  return tools::make_handler(options)(request);
}

std::string body_of(const HttpResponse& response) {
  if (!response.source) return response.body;
  std::string all;
  std::string piece(1000, '\0');
  for (std::size_t got = response.source(piece.data(), piece.size()); got > 0;
       got = response.source(piece.data(), piece.size())) {
    all.append(piece, 0, got);
  }
  return all;
}

TEST(PathHandler, DoesWhatThePathSays) {
  EXPECT_EQ(ask("/").body, "hello");
  EXPECT_EQ(ask("/sleep/1").body, "hello");
  EXPECT_EQ(ask("/burn/1").body, "hello");
  EXPECT_EQ(ask("/echo", "abc").body, "abc");
  EXPECT_EQ(body_of(ask("/big/2500")), std::string(2500, 'x'));
  EXPECT_EQ(ask("/big/2500").source_length, 2500);
  EXPECT_EQ(body_of(ask("/big/0")), "");
}

TEST(PathHandler, NamesWhatItDoesNotKnow) {
  for (const char* target : {"/nothing", "/sleep", "/sleep/", "/sleep/x", "/sleep/1x", "/sleep/-1", "/sleep/60000001",
                             "/sleep/99999999999999999999", "/sleepy/1", "/big/1099511627777", "//echo", "", "*"}) {
    const HttpResponse response = ask(target);
    EXPECT_EQ(response.status, 404) << target;
    EXPECT_EQ(response.body.rfind("'" + std::string(target) + "' is none of: /, /echo, ", 0), 0U) << response.body;
  }
}

TEST(PathHandler, ThrowsBeforeItsAnswerOrWithinItsBody) {
  EXPECT_THROW(ask("/throw"), std::runtime_error);
  const HttpResponse late = ask("/throw-late");
  std::string piece(10, '\0');
  EXPECT_EQ(late.source(piece.data(), piece.size()), 10U);
  EXPECT_THROW(late.source(piece.data(), piece.size()), std::runtime_error);
}

TEST(LiveLine, HasAFigurePerWorkerAndTheLagOfThoseAtWork) {
  std::vector<WorkerSnapshot> workers(3);
  workers[0].live = 7;
  workers[1].sleeping = true;
  workers[1].heartbeat_age_ms = 900;
  workers[2].heartbeat_age_ms = 30;
  workers[2].crashed = true;
  const auto line = nlohmann::json::parse(tools::live_line(120, workers));
  EXPECT_EQ(line.at("t_ms"), 120);
  EXPECT_GE(line.at("heap_bytes"), 0) << "a sanitizer's malloc says 0";
  EXPECT_EQ(line.at("live"), nlohmann::json({7, 0, 0}));
  EXPECT_EQ(line.at("heartbeat_age_ms"), nlohmann::json({0, 0, 30}));
  EXPECT_EQ(line.at("crashed"), 1);
  for (const char* name : {"accepted", "received", "handed_out", "refused", "finished", "cut", "queued", "requests"}) {
    EXPECT_EQ(line.at(name).size(), 3U) << name;
  }
}

}  // namespace
}  // namespace flare::testing
