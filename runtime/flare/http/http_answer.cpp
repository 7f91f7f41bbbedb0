// The part of HttpConnection that makes answers: by the handler, rendered once, or a refusal.
#include <utility>

#include "flare/http/http_connection.h"

namespace flare::inline FLARE_ABI {

AnswerContext HttpConnection::context_for(const Wire& wire, bool close) {
  const HeadInfo& info = reader_.info();
  const bool workers = protocol_.config().worker_headers;
  return {protocol_.date(wire.now),  info.is_head, info.version_minor, close, workers ? wire.accepted_by : -1,
          workers ? wire.worker : -1};
}

// Asked when the handler has returned, so that a stop that came meanwhile makes this answer, or what stands whole
// behind it, the last.
bool HttpConnection::is_last(const Wire& wire, std::string_view rest, bool wants_close) {
  if (answers_left_ == kNoLimit && (wire.draining || !protocol_.stop().is_running())) {
    answers_left_ = 1 + count_whole_requests(rest, protocol_.config());
  }
  if (answers_left_ > 0) --answers_left_;
  const bool drained = answers_left_ == 0;
  client_asked_ = !reader_.info().keep_alive;
  final_ = drained || wants_close || client_asked_;
  return final_;
}

void HttpConnection::answer(const Wire& wire, std::string_view rest) {
  protocol_.stats().requests.add();
  answered_any_ = true;
  waiting_ = Waiting::kWrite;  // the next wait begins anew
  const StaticAnswer* fixed = protocol_.static_answer();
  if (fixed == nullptr) {
    answer_by_handler(wire, rest);
  } else {
    const bool last = is_last(wire, rest, fixed->close());
    fixed->append(protocol_.out(), context_for(wire, last));
  }
}

void HttpConnection::answer_by_handler(const Wire& wire, std::string_view rest) {
  HttpRequest& request = protocol_.request();
  request.worker = wire.worker;
  request.accepted_by = wire.accepted_by;
  protocol_.set_current(wire.fd);
  HttpResponse response;
  bool failed = false;
  try {
    const HttpProtocol::HandlerScope timed(protocol_);
    response = protocol_.handler()(request);
    failed = check_response(response) != nullptr;
  } catch (...) {
    failed = true;
  }
  std::string& out = protocol_.out();
  if (failed) {
    protocol_.stats().handler_errors.add();
    append_plain(out, 500, context_for(wire, is_last(wire, rest, false)));
    return;
  }
  const bool until_close = framing_of(response, reader_.info().version_minor) == BodyFraming::kUntilClose;
  const AnswerContext context = context_for(wire, is_last(wire, rest, response.close || until_close));
  const std::size_t before = out.size();
  append_head(out, response, context);
  if (!sends_body(response.status, context)) return;
  if (!response.source) {
    out += response.body;
    return;
  }
  try {
    begin_body(response, context);
  } catch (...) {
    // Nothing of this answer has been sent yet.
    stream_.reset();
    out.resize(before);
    protocol_.stats().handler_errors.add();
    append_plain(out, 500, context);
  }
}

void HttpConnection::begin_body(HttpResponse& response, const AnswerContext& context) {
  const std::uint64_t length = response.source_length < 0 ? 0 : static_cast<std::uint64_t>(response.source_length);
  const BodyFraming framing = framing_of(response, context.version_minor);
  stream_ = std::make_unique<BodyStream>(std::move(response.source), framing, length);
  const HttpProtocol::HandlerScope timed(protocol_);
  if (!stream_->pull(protocol_.out())) stream_.reset();
}

// The last answer, and the connection's fault: nothing behind it is read.
void HttpConnection::refuse(const Wire& wire, int status, CloseReason reason) {
  final_ = true;
  client_asked_ = false;
  reason_ = reason;
  append_plain(protocol_.out(), status, context_for(wire, true));
  reader_ = RequestReader();
}

}  // namespace flare::inline FLARE_ABI
