// What a HttpConfig may hold.
#include "flare/http/http_config.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "flare/base/network_error.h"

namespace flare::testing {
namespace {

// The refusal's text; nothing when the config is taken.
std::string refusal(const HttpConfig& config) {
  try {
    config.validate();
    return "";
  } catch (const NetworkError& error) {
    return error.what();
  }
}

struct Field {
  const char* says;               // of a value that is one too small
  void (*set)(HttpConfig&, int);  // to its least value, less so much
};

const std::vector<Field> kFields{
    {"max_head_bytes is 17, expected 18 or more",
     [](HttpConfig& to, int less) { to.max_head_bytes = 18 - static_cast<std::size_t>(less); }},
    {"max_target_bytes is 0, expected 1 or more",
     [](HttpConfig& to, int less) { to.max_target_bytes = 1 - static_cast<std::size_t>(less); }},
    {"max_headers is 0, expected 1 or more",
     [](HttpConfig& to, int less) { to.max_headers = 1 - static_cast<std::size_t>(less); }},
    {"max_body_bytes is -1, expected 0 or more",
     [](HttpConfig& to, int less) { to.max_body_bytes = 0 - static_cast<std::size_t>(less); }},
    {"head_deadline is 0, expected 1 or more",
     [](HttpConfig& to, int less) { to.head_deadline = std::chrono::milliseconds(1 - less); }},
    {"body_deadline is 0, expected 1 or more",
     [](HttpConfig& to, int less) { to.body_deadline = std::chrono::milliseconds(1 - less); }},
    {"idle_deadline is 0, expected 1 or more",
     [](HttpConfig& to, int less) { to.idle_deadline = std::chrono::milliseconds(1 - less); }},
    {"write_deadline is 0, expected 1 or more",
     [](HttpConfig& to, int less) { to.write_deadline = std::chrono::milliseconds(1 - less); }}};

TEST(HttpConfig, TakesTheLeastOfEveryField) {
  HttpConfig least;
  for (const Field& field : kFields) field.set(least, 0);
  EXPECT_EQ(refusal(least), "");
}

TEST(HttpConfig, NamesTheFirstFieldThatIsTooSmallAndWhatWasExpected) {
  HttpConfig config;
  for (const Field& field : kFields) field.set(config, 1);
  for (const Field& field : kFields) {
    EXPECT_NE(refusal(config).find(field.says), std::string::npos) << field.says << ", got: " << refusal(config);
    field.set(config, 0);
  }
  EXPECT_EQ(refusal(config), "");
}

}  // namespace
}  // namespace flare::testing
