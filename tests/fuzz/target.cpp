#include "target.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace flare::fuzz {

namespace {

struct Input {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
};
constinit Input running;

}  // namespace

void begin_input(const std::uint8_t* data, std::size_t size) {
  running = {data, size};
}

void fail(std::size_t step, const std::string& what) {
  const std::string text = dump_text(running.data, running.size);
  std::fprintf(stderr, "%sFAILED at step %zu: %s\n", text.c_str(), step, what.c_str());
  std::abort();
}

int dump_if_asked(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--dump") != 0) continue;
    if (i + 1 == count) {
      std::fprintf(stderr, "--dump: expected a file behind it\n");
      return 2;
    }
    std::ifstream file(arguments[i + 1], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "--dump: cannot read '%s'\n", arguments[i + 1]);
      return 2;
    }
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::fputs(dump_text(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()).c_str(), stdout);
    return 0;
  }
  return -1;
}

std::string escaped(const std::uint8_t* data, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t c = data[i];
    if (c == '\r') {
      text += "\\r";
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (c >= 0x20 && c < 0x7f && c != '\\') {
      text += static_cast<char>(c);
    } else {
      std::array<char, 5> hex{};
      std::snprintf(hex.data(), hex.size(), "\\x%02x", c);
      text += hex.data();
    }
  }
  return text;
}

}  // namespace flare::fuzz

// libFuzzer calls it before the first input; the replay's main asks for itself.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const int status = flare::fuzz::dump_if_asked(*count, *arguments);
  if (status >= 0) std::exit(status);
  return 0;
}
