#include "storm/options.h"

#include <gtest/gtest.h>

#include <numeric>

namespace flare::tools {
namespace {

int parse(std::vector<const char*> arguments, StormOptions& out, std::string* complaint = nullptr) {
  arguments.insert(arguments.begin(), "flare-storm");
  ::testing::internal::CaptureStderr();
  const int code = parse_storm_options(static_cast<int>(arguments.size()), arguments.data(), out);
  const std::string text = ::testing::internal::GetCapturedStderr();
  if (complaint != nullptr) *complaint = text;
  return code;
}

TEST(StormOptions, TakesLoopbackOnly) {
  for (const char* fine : {"127.0.0.1:8080", "127.3.2.1:1", "[::1]:65535", "localhost:80"}) {
    StormOptions options;
    EXPECT_EQ(parse({fine}, options), -1) << fine;
  }
  for (const char* wrong : {"10.0.0.1:80", "0.0.0.0:80", "[::]:80", "[2001:db8::1]:80", "example.org:80", "127.0.0.1",
                            "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", ""}) {
    StormOptions options;
    std::string complaint;
    EXPECT_EQ(parse({wrong}, options, &complaint), 2) << wrong;
    EXPECT_NE(complaint.find(wrong), std::string::npos) << complaint;
    EXPECT_EQ(complaint.find('\n'), complaint.size() - 1) << complaint;
  }
}

TEST(StormOptions, NamesFlagAndValueOfABadOne) {
  StormOptions options;
  std::string complaint;
  EXPECT_EQ(parse({"127.0.0.1:1", "--rate", "fast"}, options, &complaint), 2);
  EXPECT_EQ(complaint, "flare-storm: --rate: 'fast' is not a whole number from 0 to 1000000 (see --help)\n");
  EXPECT_EQ(parse({"127.0.0.1:1", "--spread", "50,60"}, options, &complaint), 2);
  EXPECT_NE(complaint.find("--spread: the percents make 110, not 100"), std::string::npos) << complaint;
}

TEST(StormOptions, SpreadsAllConnections) {
  StormOptions options;
  ASSERT_EQ(parse({"127.0.0.1:1", "--connections", "256", "--spread", "70,10,10,10"}, options), -1);
  const std::vector<int> wanted = options.wanted_per_worker();
  ASSERT_EQ(wanted.size(), 4U);
  EXPECT_EQ(std::accumulate(wanted.begin(), wanted.end(), 0), 256);
  EXPECT_EQ(wanted[0], 180);
  StormOptions pinned;
  ASSERT_EQ(parse({"127.0.0.1:1", "--connections", "8", "--pin-worker", "2"}, pinned), -1);
  EXPECT_EQ(pinned.wanted_per_worker(), (std::vector<int>{0, 0, 8}));
}

TEST(StormOptions, ReplayLineParsesToTheSameRun) {
  StormOptions first;
  ASSERT_EQ(parse({"127.0.0.1:1", "--mode", "slow", "--rate", "10", "--reconnect", "--spread", "50,50"}, first), -1);
  EXPECT_NE(first.replay_line().find("--seed " + std::to_string(first.seed)), std::string::npos);
  StormOptions again;
  std::vector<std::string> words;
  std::string word;
  for (const char letter : first.replay_line() + " ") {
    if (letter == ' ')
      words.push_back(std::exchange(word, {}));
    else
      word += letter;
  }
  std::vector<const char*> arguments;
  for (std::size_t i = 1; i < words.size(); ++i) arguments.push_back(words[i].c_str());
  ASSERT_EQ(parse(arguments, again), -1);
  EXPECT_EQ(again.replay_line(), first.replay_line());
}

}  // namespace
}  // namespace flare::tools
