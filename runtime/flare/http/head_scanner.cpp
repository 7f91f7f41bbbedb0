#include "flare/http/head_scanner.h"

#include <algorithm>

#include "flare/http/http_text.h"

namespace flare::inline FLARE_ABI {

HeadScanner::Result HeadScanner::scan(std::string_view data, const HttpConfig& config) {
  while (state_ != State::kComplete && state_ != State::kRefused) {
    // A head that reaches the limit without its end can't end within it: no later byte decides.
    const std::size_t limit = start_ + config.max_head_bytes;
    if (position_ >= limit) {
      refuse(state_ == State::kTarget ? 414 : 431);
      break;
    }
    const std::size_t end = std::min(data.size(), limit);
    if (position_ >= end) return Result::kNeedMore;
    // The two long runs of a head, without the dispatch per byte.
    if (state_ == State::kValue || state_ == State::kName) {
      const unsigned char run = state_ == State::kValue ? http_text::kValue : http_text::kToken;
      std::size_t at = position_;  // kept in a register, which a member can't be
      while (at < end && http_text::is(data[at], run)) ++at;
      position_ = at;
      if (position_ >= end) continue;
    }
    if (step(data[position_], config)) ++position_;
  }
  return state_ == State::kComplete ? Result::kComplete : Result::kRefused;
}

bool HeadScanner::step(char c, const HttpConfig& config) {
  switch (state_) {
    case State::kFirst:
      if (c == '\r') return go(State::kEmptyLineLf);
      return http_text::is(c, http_text::kToken) ? go(State::kMethod) : refuse(400);
    case State::kEmptyLineLf:
      start_ = 2;
      return c == '\n' ? go(State::kBeforeLine) : refuse(400);
    case State::kBeforeLine:
      return http_text::is(c, http_text::kToken) ? go(State::kMethod) : refuse(400);
    case State::kMethod:
      if (c == ' ') return go(State::kTarget);
      return http_text::is(c, http_text::kToken) ? true : refuse(400);
    case State::kTarget:
      if (c == ' ') return target_ == 0 ? refuse(400) : go(State::kVersion);
      if (!http_text::is(c, http_text::kTarget)) return refuse(400);
      return ++target_ > config.max_target_bytes ? refuse(414) : true;
    case State::kVersion:
      return version_byte(c);
    case State::kLineLf:
    case State::kValueLf:
      return c == '\n' ? go(State::kHeaderStart) : refuse(400);
    case State::kHeaderStart:
      if (c == '\r') return go(State::kEndLf);
      if (!http_text::is(c, http_text::kToken)) return refuse(400);  // a folded line begins with a space
      return ++headers_ > config.max_headers ? refuse(431) : go(State::kName);
    case State::kName:
      return c == ':' ? go(State::kValue) : refuse(400);  // a space before the colon ends here
    case State::kValue:
      return c == '\r' ? go(State::kValueLf) : refuse(400);
    case State::kEndLf:
      return c == '\n' ? go(State::kComplete) : refuse(400);
    case State::kComplete:
    case State::kRefused:
      break;
  }
  return false;
}

// "HTTP/" digit "." digit CR. A version of that shape that is not ours is 505, anything else is no request line.
bool HeadScanner::version_byte(char c) {
  static constexpr std::string_view kPrefix = "HTTP/";
  const unsigned at = version_at_++;
  if (at < kPrefix.size()) return c == kPrefix[at] ? true : refuse(400);
  if (at == 6) return c == '.' ? true : refuse(400);
  if (at == 8) {
    if (c != '\r') return refuse(400);
    return major_ == '1' && (minor_ == '0' || minor_ == '1') ? go(State::kLineLf) : refuse(505);
  }
  if (!http_text::is_digit(c)) return refuse(400);
  (at == 5 ? major_ : minor_) = c;
  return true;
}

}  // namespace flare::inline FLARE_ABI
