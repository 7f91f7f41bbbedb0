// response_reader.h: reads one HTTP/1.1 response at a time out of a stream of bytes.
// Bounds: a head of at most 64 KiB; a body is counted, not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace flare::tools {

class ResponseReader {
 public:
  enum class Result { kMore, kComplete, kBad };

  // Forgets the last response; the next byte begins a new one.
  void start(bool head_request = false);
  // Takes bytes up to the end of the response; `used` says how many.
  Result feed(std::string_view bytes, std::size_t& used);
  // The stream has ended: kComplete when that is what ends the body, else kBad.
  Result end_of_stream();

  bool begun() const { return begun_; }  // a byte of this response was seen
  int status() const { return status_; }
  bool close_announced() const { return close_; }
  int worker() const { return worker_; }            // X-Flare-Worker, -1: absent
  int accepted_by() const { return accepted_by_; }  // X-Flare-Accepted-By, -1: absent
  std::uint64_t body_bytes() const { return body_bytes_; }
  const std::string& complaint() const { return complaint_; }  // after kBad

 private:
  enum class Phase { kHead, kSized, kUntilClose, kChunkSize, kChunkData, kChunkEnd, kTrailer, kDone };

  Result read_head(std::string_view bytes, std::size_t& used);
  bool parse_head();
  bool parse_header(std::string_view line);
  Result read_body(std::string_view bytes, std::size_t& used);
  Result read_chunk_line(char byte);
  Result bad(const std::string& why);

  Phase phase_ = Phase::kHead;
  bool head_request_ = false, begun_ = false, close_ = false, chunked_ = false;
  int status_ = 0, worker_ = -1, accepted_by_ = -1;
  std::int64_t length_ = -1;     // Content-Length
  std::uint64_t remaining_ = 0;  // of the sized body or of the chunk
  std::uint64_t body_bytes_ = 0;
  std::string head_, line_, complaint_;
};

}  // namespace flare::tools
