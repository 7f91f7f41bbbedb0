#include "flare/http/plain_head.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "flare/http/http_text.h"

namespace flare::inline FLARE_ABI {

namespace {

// With the slash of the origin form behind them: other methods and targets are not plain.
constexpr std::array<std::string_view, 6> kStarts{"GET /", "POST /", "HEAD /", "PUT /", "DELETE /", "PATCH /"};
constexpr std::string_view kVersion = " HTTP/1.";  // and a digit, and the end of the line

// What is left to look at.
class Rest {
 public:
  Rest(const char* begin, const char* end) : at_(begin), end_(end) {}

  const char* at() const { return at_; }
  bool has(std::size_t size) const { return static_cast<std::size_t>(end_ - at_) >= size; }
  void skip(std::size_t size) { at_ += size; }
  bool take(std::string_view text) {
    if (!has(text.size()) || std::memcmp(at_, text.data(), text.size()) != 0) return false;
    skip(text.size());
    return true;
  }
  bool take_line_end() {
    if (!has(2) || at_[0] != '\r' || at_[1] != '\n') return false;
    skip(2);
    return true;
  }
  std::string_view run_of(unsigned char what) {
    const char* const begin = at_;
    const char* at = at_;  // kept in a register, which a member can't be
    while (at < end_ && http_text::is(*at, what)) ++at;
    at_ = at;
    return {begin, static_cast<std::size_t>(at - begin)};
  }
  std::string_view value();

 private:
  const char* at_;
  const char* end_;
};

// Eight bytes at once, while there is no control byte and no DEL among them. It may see one that is not there, behind
// one that is: from either on they are looked at one by one. A tab is allowed, but nobody sends one, and llhttp refuses
// it behind a length: no plain value has one.
std::string_view Rest::value() {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const char* const begin = at_;
  const char* at = at_;
  while (end_ - at >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t deleted = word ^ kOnes * 0x7f;
    const std::uint64_t below_space = (word - kOnes * 0x20) & ~word;
    const std::uint64_t is_deleted = (deleted - kOnes) & ~deleted;
    if (((below_space | is_deleted) & kOnes * 0x80) != 0) break;
    at += 8;
  }
  while (at < end_ && *at != '\t' && http_text::is(*at, http_text::kValue)) ++at;
  at_ = at;
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

bool read_request_line(Rest& rest, const HttpConfig& config, HttpRequest& request) {
  const char* const method = rest.at();
  const auto start = std::find_if(kStarts.begin(), kStarts.end(), [&](std::string_view one) { return rest.take(one); });
  if (start == kStarts.end()) return false;
  request.method = {method, start->size() - 2};
  const char* const target = rest.at() - 1;
  request.target = {target, rest.run_of(http_text::kTarget).size() + 1};
  if (request.target.size() > config.max_target_bytes) return false;
  if (!rest.take(kVersion) || !rest.has(1)) return false;
  const char minor = *rest.at();
  if (minor != '0' && minor != '1') return false;
  request.version_minor = minor - '0';
  rest.skip(1);
  return rest.take_line_end();
}

// False: not a header.
bool read_header(Rest& rest, HttpRequest& request) {
  const std::string_view name = rest.run_of(http_text::kToken);
  if (name.empty() || !rest.take(":")) return false;
  request.headers.push_back({name, rest.value()});
  return rest.take_line_end();
}

}  // namespace

std::size_t read_plain_head(std::string_view data, const HttpConfig& config, HttpRequest& request) {
  Rest rest(data.data(), data.data() + std::min(data.size(), config.max_head_bytes));
  request.headers.clear();
  if (!read_request_line(rest, config, request)) return 0;
  while (!rest.take_line_end()) {
    if (request.headers.size() == config.max_headers || !read_header(rest, request)) return 0;
  }
  return static_cast<std::size_t>(rest.at() - data.data());
}

}  // namespace flare::inline FLARE_ABI
