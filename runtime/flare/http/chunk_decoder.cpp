#include "flare/http/chunk_decoder.h"

#include <algorithm>
#include <cstring>

#include "flare/http/http_config.h"
#include "flare/http/http_text.h"

namespace flare::inline FLARE_ABI {

ChunkDecoder::Result ChunkDecoder::decode(char* data, std::size_t size, std::size_t& read, std::size_t& write,
                                          std::size_t max_body) {
  while (read < size && state_ != State::kComplete && state_ != State::kRefused) {
    if (state_ == State::kData) {
      const std::size_t run = static_cast<std::size_t>(std::min<std::uint64_t>(left_, size - read));
      std::memmove(data + write, data + read, run);
      read += run;
      write += run;
      left_ -= run;
      if (left_ == 0) state_ = State::kDataCr;
      continue;
    }
    if (step(data[read], max_body)) ++read;
  }
  if (state_ == State::kComplete) return Result::kComplete;
  return state_ == State::kRefused ? Result::kRefused : Result::kNeedMore;
}

bool ChunkDecoder::step(char c, std::size_t max_body) {
  switch (state_) {
    case State::kSizeStart:
      left_ = 0;
      digits_ = 0;
      state_ = State::kSize;
      return size_digit(c);
    case State::kSize:
      if (c == '\r') return size_ended(State::kSizeLf, max_body);
      if (c == ';') return size_ended(State::kExtension, max_body);
      return size_digit(c);
    case State::kExtension:
      if (++extension_ > http_limits::kChunkExtensionBytes) return refuse(400);
      if (c == '\r') return go(State::kSizeLf);
      return http_text::is(c, http_text::kValue) ? true : refuse(400);
    case State::kSizeLf:
      if (c != '\n') return refuse(400);
      return go(left_ == 0 ? State::kTrailerStart : State::kData);
    case State::kDataCr:
      return c == '\r' ? go(State::kDataLf) : refuse(400);
    case State::kDataLf:
      return c == '\n' ? go(State::kSizeStart) : refuse(400);
    default:
      return trailer_step(c);
  }
}

// Trailers are checked like headers and dropped.
bool ChunkDecoder::trailer_step(char c) {
  if (++trailer_ > http_limits::kTrailerBytes) return refuse(431);
  switch (state_) {
    case State::kTrailerStart:
      if (c == '\r') return go(State::kEndLf);
      return http_text::is(c, http_text::kToken) ? go(State::kTrailerName) : refuse(400);
    case State::kTrailerName:
      if (c == ':') return go(State::kTrailerValue);
      return http_text::is(c, http_text::kToken) ? true : refuse(400);
    case State::kTrailerValue:
      if (c == '\r') return go(State::kTrailerLf);
      return http_text::is(c, http_text::kValue) ? true : refuse(400);
    case State::kTrailerLf:
      return c == '\n' ? go(State::kTrailerStart) : refuse(400);
    case State::kEndLf:
      return c == '\n' ? go(State::kComplete) : refuse(400);
    default:
      return false;
  }
}

bool ChunkDecoder::size_digit(char c) {
  const char low = http_text::lower(c);
  const bool letter = low >= 'a' && low <= 'f';
  if (!letter && !http_text::is_digit(c)) return refuse(400);
  if (++digits_ > http_limits::kChunkSizeDigits) return refuse(400);  // sixteen digits fill 64 bits
  left_ = left_ * 16 + static_cast<std::uint64_t>(letter ? low - 'a' + 10 : low - '0');
  return true;
}

bool ChunkDecoder::size_ended(State next, std::size_t max_body) {
  if (left_ > max_body - total_) return refuse(413);
  total_ += left_;
  return go(next);
}

}  // namespace flare::inline FLARE_ABI
