#include "flare/http/request_reader.h"

#include <string>
#include <utility>

#include "flare/http/plain_head.h"

namespace flare::inline FLARE_ABI {

namespace {
std::string_view head_of(const char* data, const HeadScanner& scanner) {
  return {data + scanner.start(), scanner.end() - scanner.start()};
}
}  // namespace

RequestReader::Result RequestReader::read(char* data, std::size_t size, const HttpConfig& config,
                                          HttpRequest& request) {
  if (kept_ == 0 && read_plain(data, size, config, request)) return Result::kRequest;
  const bool head_was_whole = in_body();
  if (!head_was_whole) {
    if (const Result result = read_head(data, size, config, request); result != Result::kRequest) return result;
    kept_ = head_end_;
  }
  std::size_t body_end = head_end_;
  if (info_.chunked) {
    std::size_t raw = kept_;
    body_end = kept_;
    const ChunkDecoder::Result result = chunks_.decode(data, size, raw, body_end, config.max_body_bytes);
    if (result == ChunkDecoder::Result::kRefused) return refuse(chunks_.status());
    wants_continue_ = wants_continue_ && size == head_end_;
    kept_ = result == ChunkDecoder::Result::kComplete ? raw : body_end;
    if (result == ChunkDecoder::Result::kNeedMore) return Result::kNeedMore;
  } else {
    // Compared this way round: content_length is at most max_body_bytes, so it fits.
    const std::size_t length = static_cast<std::size_t>(info_.content_length);
    if (size - head_end_ < length) {
      wants_continue_ = wants_continue_ && size == head_end_;
      kept_ = size;
      return Result::kNeedMore;
    }
    body_end = head_end_ + length;
    kept_ = body_end;
  }
  if (head_was_whole) {
    // The bytes may have moved since the head was read: its views are made anew. It can't be refused any more.
    status_ = parse_head(head_of(data, scanner_), scanner_.version_minor(), config, request, info_);
  }
  request.body = std::string_view(data + head_end_, body_end - head_end_);
  return Result::kRequest;
}

// The usual request, which arrives whole: nothing of it must be remembered. Whatever else there is, a refusal too, is
// read as if nobody had looked.
bool RequestReader::read_plain(char* data, std::size_t size, const HttpConfig& config, HttpRequest& request) {
  const std::size_t end = read_plain_head(std::string_view(data, size), config, request);
  if (end == 0 || judge_head(config, request, info_) != 0) return false;
  if (info_.chunked || info_.expects_continue || info_.content_length > size - end) return false;
  kept_ = end + static_cast<std::size_t>(info_.content_length);
  request.body = std::string_view(data + end, kept_ - end);
  return true;
}

// kRequest here: the head is whole and sound.
RequestReader::Result RequestReader::read_head(char* data, std::size_t size, const HttpConfig& config,
                                               HttpRequest& request) {
  const HeadScanner::Result scanned = scanner_.scan(std::string_view(data, size), config);
  if (scanned == HeadScanner::Result::kRefused) return refuse(scanner_.status());
  if (scanned == HeadScanner::Result::kNeedMore) {
    kept_ = size;
    return Result::kNeedMore;
  }
  const std::string_view head = head_of(data, scanner_);
  if (const int status = parse_head(head, scanner_.version_minor(), config, request, info_)) return refuse(status);
  head_end_ = scanner_.end();
  wants_continue_ = info_.expects_continue && (info_.chunked || info_.content_length > 0);
  return Result::kRequest;
}

RequestReader::Result RequestReader::refuse(int status) {
  status_ = status;
  return Result::kRefused;
}

bool RequestReader::take_continue() {
  return std::exchange(wants_continue_, false);
}

int count_whole_requests(std::string_view bytes, const HttpConfig& config) {
  std::string copy(bytes);  // decoding writes
  HttpRequest request;
  int count = 0;
  std::size_t at = 0;
  for (;;) {  // a reader needs more than nothing
    RequestReader reader;
    const RequestReader::Result result = reader.read(copy.data() + at, copy.size() - at, config, request);
    if (result == RequestReader::Result::kNeedMore) break;
    ++count;
    if (result == RequestReader::Result::kRefused || !reader.info().keep_alive) break;
    at += reader.end();
  }
  return count;
}

}  // namespace flare::inline FLARE_ABI
