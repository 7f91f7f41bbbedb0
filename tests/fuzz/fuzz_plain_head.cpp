// The pass over a usual request head against HeadScanner and llhttp: what it takes, they take, and make the same of it.
//
// An input: a byte of flags (bit 0: small bounds), and the bytes of a head with whatever stands behind it.
#include <optional>
#include <string>
#include <string_view>

#include "support/head_readings.h"
#include "target.h"

namespace flare::fuzz {
namespace {

struct Input {
  Input(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return;
    small = (data[0] & 1U) != 0;
    bytes = {reinterpret_cast<const char*>(data) + 1, size - 1};
  }
  bool small = false;
  std::string_view bytes;
};

HttpConfig config_of(const Input& input) {
  HttpConfig config;
  if (!input.small) return config;
  config.max_head_bytes = 128;
  config.max_target_bytes = 16;
  config.max_headers = 3;
  config.max_body_bytes = 64;
  return config;
}

void run(const Input& input) {
  const HttpConfig config = config_of(input);
  const std::optional<std::string> plain = testing::plain_reading(input.bytes, config);
  if (!plain) return;
  const std::optional<std::string> strict = testing::strict_reading(input.bytes, config);
  if (plain != strict) fail(0, "plain: " + *plain + "\nstrict: " + strict.value_or("not whole"));
}

}  // namespace

std::string dump_text(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  return (input.small ? "small bounds: " : "usual bounds: ") +
         escaped(reinterpret_cast<const std::uint8_t*>(input.bytes.data()), input.bytes.size()) + '\n';
}

}  // namespace flare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flare::fuzz::begin_input(data, size);
  flare::fuzz::run(flare::fuzz::Input(data, size));
  return 0;
}
