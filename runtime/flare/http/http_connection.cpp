#include "flare/http/http_connection.h"

#include <cerrno>
#include <utility>

#include "flare/kernel/system_kernel.h"
#include "flare/reactor/event.h"

namespace flare::inline FLARE_ABI {

namespace {
bool is_transient(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

// Gives back what the text does not need. An assignment of {} would keep it, and an idle connection hold for ever what
// its largest message took.
void fit(std::string& text) {
  if (text.capacity() / 2 > text.size()) text.shrink_to_fit();
}
}  // namespace

Step HttpConnection::on_open(const Wire& wire) {
  deadline_ = saturating_add(wire.now, protocol_.config().head_deadline);
  return keep(INTEREST_READ);
}

Step HttpConnection::on_ready(const Wire& wire, Readiness ready) {
  if (unsent() || stream_ || backlog_ || final_) return advance(wire);
  if (ready.readable || ready.hup || ready.error) return receive(wire);
  return keep(interest_);
}

Step HttpConnection::on_turn(const Wire& wire) {
  return advance(wire);
}

Step HttpConnection::on_deadline(const Wire& wire) {
  // A worker that was held up may find the deadline passed and the bytes there: they count.
  const bool writing = unsent() || stream_ || backlog_ || final_;
  const Step step = writing ? advance(wire) : receive(wire);
  if (step.kind != Step::Kind::kKeep || step.again || step.deadline > wire.now) return step;
  return timed_out(wire);
}

Step HttpConnection::on_drain(const Wire& /*wire*/) {
  if (answers_left_ == kNoLimit && !final_) {
    const bool answering = unsent() || stream_;
    const int whole = backlog_ ? count_whole_requests(pending_, protocol_.config()) : 0;
    // What was read whole is answered. Behind an answer that is under way nothing else is; without one, the request of
    // which a part was read, or else the first that arrives, is the last.
    answers_left_ = whole > 0 ? whole : answering ? 0 : 1;
    if (answers_left_ == 0) {
      final_ = true;
      discarded_ = discarded_ || !pending_.empty();
      reader_ = RequestReader();
      backlog_ = false;
    }
  }
  if (final_ && !unsent() && !stream_) return finish();
  return keep(interest_, backlog_ || (stream_ && !unsent()));
}

Step HttpConnection::on_grace_over(const Wire& wire) {
  if (unanswered()) return keep(interest_, backlog_ || (stream_ && !unsent()));
  if (final_) return finish();
  const Step step = receive(wire);
  if (step.kind != Step::Kind::kKeep || unanswered()) return step;
  return Step::linger(CloseReason::kIdleDrained);
}

bool HttpConnection::unanswered() const {
  return unsent() || stream_ || backlog_ || reader_.begun();
}

Step HttpConnection::receive(const Wire& wire) {
  const Result<std::size_t> got = SystemKernel::recv(wire.fd, wire.scratch, wire.scratch_size);
  if (!got.ok()) return is_transient(got.error()) ? wait(wire) : gone();
  const std::size_t size = got.value();
  if (size == 0) return end_of_stream(wire);
  short_read_ = size < wire.scratch_size;
  progress_ = true;
  if (pending_.empty()) return serve(wire, wire.scratch, size);
  pending_.append(wire.scratch, size);
  return serve(wire, pending_.data(), pending_.size());
}

// Whole requests were answered before the end was read, so at most a part of one is left.
Step HttpConnection::end_of_stream(const Wire& wire) {
  end_seen_ = true;
  if (!reader_.begun()) return gone();
  protocol_.out().clear();
  refuse(wire, 400, CloseReason::kPeerGone);
  if (send_out(wire) == Sent::kGone) return gone();
  return after_send(wire);
}

Step HttpConnection::serve(const Wire& wire, char* data, std::size_t size) {
  protocol_.out().clear();
  std::size_t end = size;
  const Duration before = protocol_.handler_time();
  const std::size_t used = serve_some(wire, data, end);
  const Wire after = since(wire, before);
  keep_rest(data, used, end);
  if (send_out(after) == Sent::kGone) return gone();
  return after_send(after);
}

// The wire after handlers ran: what the client must do next is timed from their end.
Wire HttpConnection::since(const Wire& wire, Duration handler_time_before) const {
  Wire after = wire;
  after.now += protocol_.handler_time() - handler_time_before;
  return after;
}

// Answers what stands whole in data, within the bounds of a turn. Returns where the first unanswered byte is; size
// shrinks to where data then ends (decoding a chunked body takes bytes out).
std::size_t HttpConnection::serve_some(const Wire& wire, char* data, std::size_t& size) {
  const HttpConfig& config = protocol_.config();
  const std::string& out = protocol_.out();
  std::size_t used = 0;
  int budget = http_limits::kRequestsPerTurn;
  backlog_ = false;
  while (used < size && !final_ && !stream_) {
    const bool cut =
        !protocol_.stop().is_running() && protocol_.stop().read(SystemKernel::now()).phase == StopPhase::kCut;
    if (budget-- == 0 || out.size() >= http_limits::kBatchBytes || cut) {
      backlog_ = true;
      return used;
    }
    const RequestReader::Result result = reader_.read(data + used, size - used, config, protocol_.request());
    if (result == RequestReader::Result::kRefused) {
      refuse(wire, reader_.status(), CloseReason::kProtocolError);
      discarded_ = true;
      return used;
    }
    if (result == RequestReader::Result::kNeedMore) {
      size = used + reader_.kept();
      if (reader_.take_continue()) protocol_.out() += "HTTP/1.1 100 Continue\r\n\r\n";
      return used;
    }
    const std::size_t next = used + reader_.end();
    answer(wire, std::string_view(data + next, size - next));
    reader_ = RequestReader();
    used = next;
  }
  backlog_ = used < size && !final_;
  discarded_ = discarded_ || (used < size && final_);
  return used;
}

// data is the scratch buffer or pending_ itself.
void HttpConnection::keep_rest(const char* data, std::size_t from, std::size_t to) {
  if (final_) to = from;
  if (data == pending_.data()) {
    pending_.resize(to);
    pending_.erase(0, from);
  } else {
    pending_.assign(data + from, to - from);
  }
  fit(pending_);
}

Step HttpConnection::advance(const Wire& wire) {
  if (unsent()) {
    const Sent sent = send_unsent(wire);
    if (sent == Sent::kGone) return gone();
    if (sent == Sent::kPart) return keep(INTEREST_WRITE);
  }
  if (stream_) return pump(wire);
  if (final_) return finish();
  if (backlog_) return serve(wire, pending_.data(), pending_.size());
  return wait(wire);
}

Step HttpConnection::after_send(const Wire& wire) {
  if (unsent()) return keep(INTEREST_WRITE);
  if (stream_) return pump(wire);
  if (final_) return finish();
  return wait(wire);
}

// A body by callback: one piece at a time, the next one when the socket took the last.
Step HttpConnection::pump(const Wire& wire) {
  const Duration before = protocol_.handler_time();
  for (int pulls = 0; pulls < http_limits::kPullsPerTurn; ++pulls) {
    std::string& out = protocol_.out();
    out.clear();
    bool more{};
    try {
      const HttpProtocol::HandlerScope timed(protocol_);
      more = stream_->pull(out);
    } catch (...) {
      protocol_.stats().handler_errors.add();
      return Step::linger(CloseReason::kHandlerThrew);  // earlier answers may still be on their way
    }
    if (!more) stream_.reset();
    const Wire after = since(wire, before);
    const Sent sent = send_out(after);
    if (sent == Sent::kGone) return gone();
    if (sent == Sent::kPart) return keep(INTEREST_WRITE);
    if (!more) return final_ ? finish() : wait(after);
  }
  return keep(interest_, true);
}

// The last bytes and the end of the stream leave together, as one segment: half of what two cost here, and one event
// for the client. The end follows at once, so nothing ever stands back.
Result<std::size_t> HttpConnection::send(int fd, const char* data, std::size_t size) {
  if (!final_ || stream_) return SystemKernel::send(fd, data, size);
  const Result<std::size_t> sent = SystemKernel::send_held(fd, data, size);
  if (sent.ok() && sent.value() == size) {
    static_cast<void>(SystemKernel::shutdown_write(fd));  // a failure means that the client is gone
    ended_ = true;
  }
  return sent;
}

HttpConnection::Sent HttpConnection::send_out(const Wire& wire) {
  std::string& out = protocol_.out();
  if (out.empty()) return Sent::kAll;
  const Result<std::size_t> sent = send(wire.fd, out.data(), out.size());
  if (!sent.ok() && !is_transient(sent.error())) return Sent::kGone;
  const std::size_t count = sent.ok() ? sent.value() : 0;
  if (count == out.size()) {
    if (out.capacity() > 2 * http_limits::kBatchBytes) {
      out.clear();
      fit(out);
    }
    return Sent::kAll;
  }
  unsent_.swap(out);
  sent_ = count;
  waiting_ = Waiting::kWrite;
  deadline_ = saturating_add(wire.now, protocol_.config().write_deadline);
  return Sent::kPart;
}

HttpConnection::Sent HttpConnection::send_unsent(const Wire& wire) {
  const Result<std::size_t> sent = send(wire.fd, unsent_.data() + sent_, unsent_.size() - sent_);
  if (!sent.ok()) return is_transient(sent.error()) ? Sent::kPart : Sent::kGone;
  sent_ += sent.value();
  if (unsent()) {
    deadline_ = saturating_add(wire.now, protocol_.config().write_deadline);
    return Sent::kPart;
  }
  unsent_.clear();
  fit(unsent_);
  sent_ = 0;
  return Sent::kAll;
}

// Nothing is unsent: which deadline runs now, and since when.
Step HttpConnection::wait(const Wire& wire) {
  const HttpConfig& config = protocol_.config();
  const bool progress = std::exchange(progress_, false);
  if (backlog_) return keep(interest_, true);
  if (!reader_.begun()) {
    if (waiting_ != Waiting::kFirstRequest && waiting_ != Waiting::kRequest) {
      waiting_ = Waiting::kRequest;
      deadline_ = saturating_add(wire.now, config.idle_deadline);
    }
  } else if (reader_.in_body()) {
    if (waiting_ != Waiting::kBody || progress) deadline_ = saturating_add(wire.now, config.body_deadline);
    waiting_ = Waiting::kBody;
  } else if (waiting_ != Waiting::kHead) {
    // The head of the first request has been due since the connection was opened.
    if (waiting_ != Waiting::kFirstRequest) deadline_ = saturating_add(wire.now, config.head_deadline);
    waiting_ = Waiting::kHead;
  }
  return keep(INTEREST_READ);
}

Step HttpConnection::keep(int interest, bool again) {
  interest_ = interest;
  return again ? Step::keep_and_return(interest, deadline_) : Step::keep(interest, deadline_);
}

// All is sent. The one direct close: the client wants it, and nothing unread can turn it into a reset.
Step HttpConnection::finish() {
  const bool nothing_unread = end_seen_ || (client_asked_ && short_read_ && !discarded_);
  return nothing_unread ? Step::close(reason_) : Step::linger(reason_, ended_);
}

// What is being written made no progress, or nothing is: a body that can go on does, and who has answered for the last
// time is through.
Step HttpConnection::timed_out(const Wire& wire) {
  if (unsent()) return Step::linger(CloseReason::kDeadline);
  if (!reader_.begun()) {
    return answered_any_ ? Step::linger(CloseReason::kDeadline) : Step::close(CloseReason::kDeadline);
  }
  protocol_.out().clear();
  refuse(wire, 408, CloseReason::kDeadline);
  if (send_out(wire) == Sent::kGone) return gone();
  return after_send(wire);
}

}  // namespace flare::inline FLARE_ABI
