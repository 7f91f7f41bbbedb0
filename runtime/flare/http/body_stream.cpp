#include "flare/http/body_stream.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "flare/http/http_config.h"

namespace flare::inline FLARE_ABI {

namespace {
constexpr std::size_t kChunkPrefix = 6;  // four digits, CR LF
static_assert(http_limits::kSourceBytes <= 0xffff, "a piece's size fits four hexadecimal digits");

void put_chunk_size(char* to, std::size_t size) {
  for (int i = 3; i >= 0; --i, size /= 16) to[i] = "0123456789abcdef"[size % 16];
  to[4] = '\r';
  to[5] = '\n';
}
}  // namespace

BodyStream::BodyStream(BodySource source, BodyFraming framing, std::uint64_t length)
    : source_(std::move(source)), framing_(framing), left_(length) {}

bool BodyStream::pull(std::string& out) {
  std::size_t want = http_limits::kSourceBytes;
  if (framing_ == BodyFraming::kLength) {
    if (left_ == 0) return false;
    want = static_cast<std::size_t>(std::min<std::uint64_t>(want, left_));
  }
  const std::size_t start = out.size();
  const std::size_t prefix = framing_ == BodyFraming::kChunked ? kChunkPrefix : 0;
  out.resize(start + prefix + want);
  const std::size_t got = source_(out.data() + start + prefix, want);
  if (got > want) throw std::runtime_error("a BodySource returned more than it was asked for");
  if (got == 0) {
    out.resize(start);
    if (framing_ == BodyFraming::kLength) throw std::runtime_error("a BodySource ended before its source_length");
    if (framing_ == BodyFraming::kChunked) out += "0\r\n\r\n";
    return false;
  }
  out.resize(start + prefix + got);
  if (framing_ == BodyFraming::kChunked) {
    put_chunk_size(out.data() + start, got);
    out += "\r\n";
  }
  left_ -= framing_ == BodyFraming::kLength ? got : 0;
  return framing_ != BodyFraming::kLength || left_ > 0;
}

}  // namespace flare::inline FLARE_ABI
