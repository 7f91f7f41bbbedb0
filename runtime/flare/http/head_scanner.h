// head_scanner.h: finds the end of a request head, byte by byte if need be, and refuses what is not one.  Internal.
// Threads:    its owner.
// Owns:       nothing; the bytes stay with the caller.
// Bounds:     HttpConfig: head, target, number of headers. Each byte is looked at once, however it arrives.
// Errors:     a status to refuse with; then it stays refused.
// Ordering:   none.
// Invariants: what it says depends on the bytes alone, never on how they were split.
// Not here:   what a complete head means (request_parser.h). This stands before llhttp because version 8 of that, as
//             Debian ships it, lets a lone LF end a line and unfolds folded lines.
// Source:     RFC 9112 sections 2 to 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/http/http_config.h"

namespace flare::inline FLARE_ABI {

class HeadScanner {
 public:
  enum class Result : std::uint8_t { kNeedMore, kComplete, kRefused };

  // data: every byte since the message began, those of earlier calls too.
  Result scan(std::string_view data, const HttpConfig& config);

  // Bytes before the request line: 2 after the one empty line that is tolerated, else 0.
  std::size_t start() const { return start_; }
  // kComplete: where the head ends, its empty line included.
  std::size_t end() const { return position_; }
  // Something of a request line was seen.
  bool begun() const { return state_ > State::kBeforeLine; }
  int status() const { return status_; }
  int version_minor() const { return minor_ - '0'; }

 private:
  enum class State : std::uint8_t {
    kFirst,        // nothing yet
    kEmptyLineLf,  // the CR of a leading empty line was seen
    kBeforeLine,   // after that line
    kMethod,
    kTarget,
    kVersion,
    kLineLf,
    kHeaderStart,
    kName,
    kValue,
    kValueLf,
    kEndLf,
    kComplete,
    kRefused,
  };

  bool step(char c, const HttpConfig& config);
  bool version_byte(char c);
  bool go(State next) {
    state_ = next;
    return true;
  }
  bool refuse(int status) {
    status_ = static_cast<std::uint16_t>(status);
    state_ = State::kRefused;
    return false;
  }

  std::size_t position_ = 0;
  std::size_t target_ = 0;   // bytes of the target so far
  std::size_t headers_ = 0;  // header lines begun
  std::uint16_t status_ = 0;
  State state_ = State::kFirst;
  std::uint8_t start_ = 0;
  std::uint8_t version_at_ = 0;
  char major_ = '0';
  char minor_ = '0';
};

}  // namespace flare::inline FLARE_ABI
