// http_connection.h: the life of one HTTP/1.x connection: read, answer in order, time out, drain, close.  Internal.
// Threads:    the worker that owns it.
// Owns:       what of the client's bytes and of the answers did not fit into one call.
// Bounds:     in: one message within HttpConfig and one read; out: http_limits::kBatchBytes, one answer, and one piece
//             of a BodySource. While an answer is unsent nothing is read. Idle: no buffer at all.
// Errors:     what the client did wrong is answered and closed; a handler's throw is a 500 (HttpHandler).
// Ordering:   answers leave in the order of their requests.
// Invariants: INV-21; nothing behind a refused message or a last answer is executed.
// Not here:   grammar (request_reader.h), bytes of answers (response_writer.h), the socket's registration (worker/).
// Source:     own design; decisions 18 and 20 in docs/decisions.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/base/time.h"
#include "flare/http/body_stream.h"
#include "flare/http/http_protocol.h"
#include "flare/http/request_reader.h"
#include "flare/worker/connection.h"

namespace flare::inline FLARE_ABI {

class HttpConnection final : public Connection {
 public:
  explicit HttpConnection(HttpProtocol& protocol) : protocol_(protocol) {}

  Step on_open(const Wire& wire) override;
  Step on_ready(const Wire& wire, Readiness ready) override;
  Step on_turn(const Wire& wire) override;
  Step on_deadline(const Wire& wire) override;
  Step on_drain(const Wire& wire) override;
  Step on_grace_over(const Wire& wire) override;
  bool unanswered() const override;

 private:
  // What the deadline that runs is for.
  enum class Waiting : std::uint8_t { kFirstRequest, kRequest, kHead, kBody, kWrite };
  static constexpr int kNoLimit = -1;

  // Input.
  Step receive(const Wire& wire);
  Step end_of_stream(const Wire& wire);
  Step serve(const Wire& wire, char* data, std::size_t size);
  std::size_t serve_some(const Wire& wire, char* data, std::size_t& size);
  Wire since(const Wire& wire, Duration handler_time_before) const;
  void keep_rest(const char* data, std::size_t from, std::size_t to);

  // Answers (http_answer.cpp). rest: what stands behind the request.
  void answer(const Wire& wire, std::string_view rest);
  void answer_by_handler(const Wire& wire, std::string_view rest);
  void begin_body(HttpResponse& response, const AnswerContext& context);
  AnswerContext context_for(const Wire& wire, bool close);
  bool is_last(const Wire& wire, std::string_view rest, bool wants_close);
  void refuse(const Wire& wire, int status, CloseReason reason);

  // Output.
  bool unsent() const { return sent_ < unsent_.size(); }
  Step advance(const Wire& wire);
  Step after_send(const Wire& wire);
  Step pump(const Wire& wire);
  enum class Sent : std::uint8_t { kAll, kPart, kGone };
  Sent send_out(const Wire& wire);     // the worker's buffer; what the socket does not take moves to unsent_
  Sent send_unsent(const Wire& wire);  // what stood over
  Result<std::size_t> send(int fd, const char* data, std::size_t size);

  // Waiting and closing.
  Step wait(const Wire& wire);
  Step keep(int interest, bool again = false);
  Step finish();
  Step timed_out(const Wire& wire);
  Step gone() const { return Step::close(CloseReason::kPeerGone); }

  HttpProtocol& protocol_;
  RequestReader reader_;
  std::string pending_;                 // bytes of a partial request, or a backlog
  std::string unsent_;                  // answers that the socket did not take
  std::size_t sent_ = 0;                // of unsent_
  std::unique_ptr<BodyStream> stream_;  // the body that is being sent
  MonoTime deadline_ = kNever;
  int answers_left_ = kNoLimit;  // a drain's count of answers still to give
  Waiting waiting_ = Waiting::kFirstRequest;
  CloseReason reason_ = CloseReason::kAnswered;  // when final_
  int interest_ = 0;
  bool backlog_ = false;       // pending_ has bytes that no reader has seen
  bool final_ = false;         // no further request is read; close once all is sent
  bool client_asked_ = false;  // final_ because the client wanted the close
  bool discarded_ = false;     // bytes stood behind the last answer
  bool short_read_ = false;    // the last read emptied the socket
  bool end_seen_ = false;      // the client sends no more
  bool ended_ = false;         // this side sends no more
  bool answered_any_ = false;
  bool progress_ = false;  // this call read something
};

}  // namespace flare::inline FLARE_ABI
