#include "storm/response_reader.h"

#include <algorithm>

#include "common/cli.h"

namespace flare::tools {
namespace {

constexpr std::size_t kMaxHead = 64 << 10;

bool same_name(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y;
         });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool small_number(std::string_view text, int& out) {
  std::int64_t value = 0;
  if (!parse_whole(std::string(text), value) || value < 0 || value > 1'000'000) return false;
  out = static_cast<int>(value);
  return true;
}

}  // namespace

void ResponseReader::start(bool head_request) {
  phase_ = Phase::kHead;
  head_request_ = head_request;
  begun_ = close_ = chunked_ = false;
  status_ = 0;
  worker_ = accepted_by_ = -1;
  length_ = -1;
  remaining_ = body_bytes_ = 0;
  head_.clear();
  line_.clear();
}

ResponseReader::Result ResponseReader::bad(const std::string& why) {
  complaint_ = why;
  return Result::kBad;
}

ResponseReader::Result ResponseReader::feed(std::string_view bytes, std::size_t& used) {
  used = 0;
  if (!bytes.empty()) begun_ = true;
  while (phase_ == Phase::kHead) {
    std::size_t taken = 0;
    const Result result = read_head(bytes.substr(used), taken);
    used += taken;
    if (result != Result::kComplete) return result;
    if (status_ >= 200) break;
    start(head_request_);  // an interim answer: the real one follows
    begun_ = true;
  }
  if (phase_ == Phase::kDone) return Result::kComplete;
  std::size_t taken = 0;
  const Result result = read_body(bytes.substr(used), taken);
  used += taken;
  return result;
}

ResponseReader::Result ResponseReader::read_head(std::string_view bytes, std::size_t& used) {
  // The end may straddle two reads: look again at the last three bytes of what is there.
  const std::size_t from = head_.size() < 3 ? 0 : head_.size() - 3;
  const std::size_t before = head_.size();
  head_.append(bytes);
  const std::size_t end = head_.find("\r\n\r\n", from);
  if (end == std::string::npos) {
    used = bytes.size();
    return head_.size() > kMaxHead ? bad("a head of more than 64 KiB") : Result::kMore;
  }
  used = end + 4 - before;
  head_.resize(end + 2);
  return parse_head() ? Result::kComplete : Result::kBad;
}

bool ResponseReader::parse_head() {
  std::string_view rest = head_;
  const std::size_t first_end = rest.find("\r\n");
  const std::string_view first = rest.substr(0, first_end);
  rest.remove_prefix(first_end + 2);
  if (first.size() < 12 || first.substr(0, 7) != "HTTP/1." || first[8] != ' ' ||
      !small_number(first.substr(9, 3), status_) || status_ < 100) {
    bad("not a status line: '" + std::string(first.substr(0, 60)) + "'");
    return false;
  }
  close_ = first[7] == '0';
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    if (!parse_header(rest.substr(0, end))) return false;
    rest.remove_prefix(end + 2);
  }
  if (status_ < 200) return true;
  if (head_request_ || status_ == 204 || status_ == 304) {
    phase_ = Phase::kDone;
  } else if (chunked_) {
    phase_ = Phase::kChunkSize;
  } else if (length_ >= 0) {
    remaining_ = static_cast<std::uint64_t>(length_);
    phase_ = remaining_ == 0 ? Phase::kDone : Phase::kSized;
  } else {
    close_ = true;
    phase_ = Phase::kUntilClose;
  }
  return true;
}

bool ResponseReader::parse_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    bad("not a header: '" + std::string(line.substr(0, 60)) + "'");
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  bool fine = true;
  if (same_name(name, "content-length")) {
    fine = parse_whole(std::string(value), length_) && length_ >= 0;
  } else if (same_name(name, "transfer-encoding")) {
    chunked_ = same_name(value, "chunked");
    fine = chunked_;
  } else if (same_name(name, "connection")) {
    close_ = close_ ? !same_name(value, "keep-alive") : same_name(value, "close");
  } else if (same_name(name, "x-flare-worker")) {
    fine = small_number(value, worker_);
  } else if (same_name(name, "x-flare-accepted-by")) {
    fine = small_number(value, accepted_by_);
  }
  if (!fine) bad("a bad value: '" + std::string(line.substr(0, 60)) + "'");
  return fine;
}

ResponseReader::Result ResponseReader::read_body(std::string_view bytes, std::size_t& used) {
  while (used < bytes.size() && phase_ != Phase::kDone) {
    const std::size_t here = bytes.size() - used;
    if (phase_ == Phase::kUntilClose) {
      body_bytes_ += here;
      used = bytes.size();
    } else if (phase_ == Phase::kSized || phase_ == Phase::kChunkData) {
      const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(here, remaining_));
      used += take;
      remaining_ -= take;
      body_bytes_ += take;
      if (remaining_ == 0) phase_ = phase_ == Phase::kSized ? Phase::kDone : Phase::kChunkEnd;
    } else if (read_chunk_line(bytes[used++]) == Result::kBad) {
      return Result::kBad;
    }
  }
  return phase_ == Phase::kDone ? Result::kComplete : Result::kMore;
}

// A chunk's size line, the CR LF after its data, a trailer line: collected up to LF.
ResponseReader::Result ResponseReader::read_chunk_line(char byte) {
  if (byte != '\n') {
    line_ += byte;
    return line_.size() > 4096 ? bad("a chunk line of more than 4 KiB") : Result::kMore;
  }
  if (line_.empty() || line_.back() != '\r') return bad("a chunk line without CR LF");
  line_.pop_back();
  const std::string line = std::exchange(line_, {});
  if (phase_ == Phase::kTrailer) {
    if (line.empty()) phase_ = Phase::kDone;
    return Result::kMore;
  }
  if (phase_ == Phase::kChunkEnd) {
    if (!line.empty()) return bad("bytes after a chunk's data");
    phase_ = Phase::kChunkSize;
    return Result::kMore;
  }
  const std::string size = line.substr(0, line.find(';'));
  if (size.empty() || size.size() > 15 || size.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return bad("not a chunk size: '" + line.substr(0, 60) + "'");
  }
  remaining_ = std::stoull(size, nullptr, 16);
  phase_ = remaining_ == 0 ? Phase::kTrailer : Phase::kChunkData;
  return Result::kMore;
}

ResponseReader::Result ResponseReader::end_of_stream() {
  if (phase_ == Phase::kUntilClose) {
    phase_ = Phase::kDone;
    return Result::kComplete;
  }
  return bad("the stream ended inside a response");
}

}  // namespace flare::tools
