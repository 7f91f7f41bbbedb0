// request_reader.h: one request out of a stream of bytes: head, body, and where the next one begins. No I/O.  Internal.
// Threads:    its owner.
// Owns:       its position; the bytes stay with the caller.
// Bounds:     HttpConfig and http_limits.
// Errors:     a status to refuse with; the message and all behind it are then lost.
// Ordering:   none.
// Invariants: how the bytes were split changes nothing.
// Not here:   reading sockets, answering (http_connection.h).
// Source:     own design.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/http/chunk_decoder.h"
#include "flare/http/head_scanner.h"
#include "flare/http/request_parser.h"

namespace flare::inline FLARE_ABI {

class RequestReader {
 public:
  enum class Result : std::uint8_t { kNeedMore, kRequest, kRefused };

  // data: the first kept() bytes as the last call left them, then what arrived since. A chunked body is decoded in
  // place. kRequest: request is filled, its views point into data.
  Result read(char* data, std::size_t size, const HttpConfig& config, HttpRequest& request);

  std::size_t kept() const { return kept_; }  // kNeedMore: the first bytes of data that must come again
  std::size_t end() const { return kept_; }   // kRequest: where the next message begins
  int status() const { return status_; }      // kRefused
  const HeadInfo& info() const { return info_; }
  bool begun() const { return scanner_.begun(); }
  bool in_body() const { return head_end_ != 0; }
  // True once, when the client waits for 100 (Continue) and none of its body has come.
  bool take_continue();

 private:
  bool read_plain(char* data, std::size_t size, const HttpConfig& config, HttpRequest& request);
  Result read_head(char* data, std::size_t size, const HttpConfig& config, HttpRequest& request);
  Result refuse(int status);

  HeadScanner scanner_;
  HeadInfo info_;
  ChunkDecoder chunks_;
  std::size_t head_end_ = 0;  // 0: the head is not whole yet
  std::size_t kept_ = 0;
  int status_ = 0;
  bool wants_continue_ = false;
};

// How many requests stand whole at the front of bytes; a message that must be refused counts, and ends the count.
int count_whole_requests(std::string_view bytes, const HttpConfig& config);

}  // namespace flare::inline FLARE_ABI
