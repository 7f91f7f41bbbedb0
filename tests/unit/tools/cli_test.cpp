#include "common/cli.h"

#include <gtest/gtest.h>

namespace flare::tools {
namespace {

// proves: C-TOOL-04
TEST(Cli, ReadsWholeNumbersOnly) {
  std::int64_t value = 7;
  EXPECT_TRUE(parse_whole("0", value));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(parse_whole("-12", value));
  EXPECT_EQ(value, -12);
  EXPECT_TRUE(parse_whole("9223372036854775807", value));
  EXPECT_EQ(value, 9223372036854775807);
  for (const char* text : {"", "-", "+", "1.5", "0x10", " 1", "1 ", "1e3", "9223372036854775808", "ten"}) {
    EXPECT_FALSE(parse_whole(text, value)) << text;
  }
}

// proves: C-TOOL-04
TEST(Cli, NamesTheValueAndWhatWasExpected) {
  EXPECT_EQ(check_whole("4", 1, 256), "");
  EXPECT_EQ(check_whole("257", 1, 256), "'257' is not a whole number from 1 to 256");
  EXPECT_EQ(check_choice("json", {"table", "json"}), "");
  EXPECT_EQ(check_choice("xml", {"table", "json"}), "'xml' is not one of: table, json");
}

// proves: C-TOOL-04
TEST(Cli, DerivesTheEnvironmentName) {
  EXPECT_EQ(environment_name("FLARE_SERVE_", "--max-connections"), "FLARE_SERVE_MAX_CONNECTIONS");
}

}  // namespace
}  // namespace flare::tools
