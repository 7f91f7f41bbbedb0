#include "storm/response_reader.h"

#include <gtest/gtest.h>

namespace flare::tools {
namespace {

using Result = ResponseReader::Result;

const char* const kSized =
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Flare-Worker: 3\r\nX-Flare-Accepted-By: 1\r\n\r\nhello";
const char* const kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n"
    "0\r\nTrailer: x\r\n\r\n";

// Feeds text in pieces of `piece` bytes; what it says at the end, and that it did not say it sooner.
Result feed_in_pieces(ResponseReader& reader, std::string_view text, std::size_t piece) {
  reader.start();
  for (std::size_t at = 0; at < text.size(); at += piece) {
    std::size_t used = 0;
    const std::string_view part = text.substr(at, piece);
    const Result result = reader.feed(part, used);
    if (result != Result::kMore) return used == part.size() && at + piece >= text.size() ? result : Result::kBad;
  }
  return Result::kMore;
}

TEST(ResponseReader, ReadsAnswersCutAnywhere) {
  for (std::size_t piece = 1; piece < 200; ++piece) {
    ResponseReader reader;
    EXPECT_EQ(feed_in_pieces(reader, kSized, piece), Result::kComplete) << piece;
    EXPECT_EQ(reader.status(), 200);
    EXPECT_EQ(reader.body_bytes(), 5U);
    EXPECT_EQ(reader.worker(), 3);
    EXPECT_EQ(reader.accepted_by(), 1);
    EXPECT_FALSE(reader.close_announced());
    EXPECT_EQ(feed_in_pieces(reader, kChunked, piece), Result::kComplete) << piece;
    EXPECT_EQ(reader.body_bytes(), 15U);
    EXPECT_EQ(reader.worker(), -1);
    EXPECT_TRUE(reader.close_announced());
  }
}

// What tells a truncated answer from a whole one: every proper prefix is incomplete.
TEST(ResponseReader, NoPrefixIsComplete) {
  for (const std::string_view text : {std::string_view(kSized), std::string_view(kChunked)}) {
    for (std::size_t size = 0; size < text.size(); ++size) {
      ResponseReader reader;
      reader.start();
      std::size_t used = 0;
      EXPECT_EQ(reader.feed(text.substr(0, size), used), Result::kMore) << size;
      EXPECT_EQ(reader.begun(), size > 0);
      EXPECT_EQ(reader.end_of_stream(), Result::kBad) << size;
    }
  }
}

TEST(ResponseReader, LeavesWhatFollows) {
  ResponseReader reader;
  reader.start();
  std::size_t used = 0;
  const std::string two = std::string(kSized) + kSized;
  EXPECT_EQ(reader.feed(two, used), Result::kComplete);
  EXPECT_EQ(used, two.size() / 2);
}

TEST(ResponseReader, ReadsUntilCloseWithoutALength) {
  ResponseReader reader;
  EXPECT_EQ(feed_in_pieces(reader, "HTTP/1.1 200 OK\r\n\r\nabc", 4), Result::kMore);
  EXPECT_TRUE(reader.close_announced());
  EXPECT_EQ(reader.end_of_stream(), Result::kComplete);
  EXPECT_EQ(reader.body_bytes(), 3U);
}

TEST(ResponseReader, SkipsInterimAnswers) {
  ResponseReader reader;
  const std::string text = std::string("HTTP/1.1 100 Continue\r\n\r\n") + kSized;
  for (std::size_t piece = 1; piece < 30; ++piece) {
    EXPECT_EQ(feed_in_pieces(reader, text, piece), Result::kComplete) << piece;
    EXPECT_EQ(reader.status(), 200);
  }
}

TEST(ResponseReader, HeadHasNoBody) {
  ResponseReader reader;
  reader.start(true);
  std::size_t used = 0;
  EXPECT_EQ(reader.feed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", used), Result::kComplete);
}

TEST(ResponseReader, RefusesWhatIsNotHttp) {
  for (const char* text : {"SSH-2.0-OpenSSH_9.2p1\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"}) {
    ResponseReader reader;
    reader.start();
    std::size_t used = 0;
    EXPECT_EQ(reader.feed(text, used), Result::kBad) << text;
    EXPECT_FALSE(reader.complaint().empty());
  }
}

}  // namespace
}  // namespace flare::tools
