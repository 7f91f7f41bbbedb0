// libFuzzer's mutations for HTTP streams: half of them work on lines, as a person who looks for a hole would: one of a
// few lines is put in, one is taken out, doubled or moved. The other half are libFuzzer's own, with the dictionary.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "dice.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace flare::fuzz {
namespace {

using Lines = std::vector<std::string>;

constexpr std::array<std::string_view, 32> kLines = {
    "GET / HTTP/1.1\r\n",
    "POST /p HTTP/1.1\r\n",
    "HEAD / HTTP/1.1\r\n",
    "POST / HTTP/1.0\r\n",
    "GET http://h/p HTTP/1.1\r\n",
    "Host: x\r\n",
    "Host: x\r\n\r\n",
    "\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 6\r\n",
    "Content-Length: 5, 5\r\n",
    "Content-Length : 5\r\n",
    "Content-Length: +5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding: chunked, gzip\r\n",
    "Transfer-Encoding: xchunked\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Expect: 100-continue\r\n",
    " folded\r\n",
    "A: b\n",
    "A: b\rC: d\r\n",
    "5\r\nhello\r\n",
    "5;a=b\r\nhello\r\n",
    "0\r\n\r\n",
    "0\r\nT: v\r\n\r\n",
    "hello",
    "POST / HTTP/1.1\r\nHost: x\r\n",
    "GET /secret HTTP/1.1\r\nHost: x\r\n\r\n",
};

// The bytes before the stream: flags, buffer, sizes of pieces (fuzz_http_connection.cpp).
std::size_t prefix_of(const std::uint8_t* data, std::size_t size) {
  return size < 2 ? size : std::min<std::size_t>(size, 2 + (data[0] >> 1U & 7U));
}

Lines split(std::string_view stream) {
  Lines lines;
  while (!stream.empty()) {
    const std::size_t length = std::min(stream.find('\n'), stream.size() - 1) + 1;
    lines.emplace_back(stream.substr(0, length));
    stream.remove_prefix(length);
  }
  return lines;
}

void mutate_once(Lines& lines, Dice& dice) {
  const auto at = [&lines](std::size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::size_t what = lines.empty() ? 0 : dice.below(6);
  if (what <= 2) {
    lines.insert(at(dice.below(lines.size() + 1)), std::string(kLines[dice.below(kLines.size())]));
  } else if (what == 3) {
    lines.erase(at(dice.below(lines.size())));
  } else if (what == 4) {
    const std::string copy = lines[dice.below(lines.size())];
    lines.insert(at(dice.below(lines.size() + 1)), copy);
  } else {
    std::swap(lines[dice.below(lines.size())], lines[dice.below(lines.size())]);
  }
}

}  // namespace
}  // namespace flare::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  flare::fuzz::Dice dice(seed);
  if (size < 2 || dice.below(2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::size_t prefix = flare::fuzz::prefix_of(data, size);
  flare::fuzz::Lines lines = flare::fuzz::split({reinterpret_cast<const char*>(data) + prefix, size - prefix});
  for (std::size_t left = 1 + dice.below(3); left > 0; --left) flare::fuzz::mutate_once(lines, dice);
  std::size_t end = prefix;
  for (const std::string& line : lines) {
    const std::size_t length = std::min(line.size(), max_size - end);
    std::copy_n(line.begin(), length, reinterpret_cast<char*>(data) + end);
    end += length;
  }
  return end;
}
