#include "storm/connection.h"

#include <algorithm>
#include <cerrno>

namespace flare::tools {

const char* ending_name(Ending ending) {
  switch (ending) {
    case Ending::kNone:
      return "none";
    case Ending::kLocal:
      return "closed_by_us";
    case Ending::kCloseAnnounced:
      return "eof_after_close";
    case Ending::kEofIdle:
      return "eof_idle";
    case Ending::kEofUnused:
      return "eof_unused";
    case Ending::kRefused:
      return "connect_refused";
    case Ending::kConnectFailed:
      return "connect_failed";
    case Ending::kResetUnused:
      return "reset_unused";
    case Ending::kResetIdle:
      return "reset_idle";
    case Ending::kEofOutstanding:
      return "eof_outstanding";
    case Ending::kResetFirst:
      return "reset_first_request";
    case Ending::kResetOutstanding:
      return "reset_outstanding";
    case Ending::kTruncated:
      return "truncated";
    case Ending::kBadResponse:
      return "bad_response";
    case Ending::kTimeout:
      return "timeout";
    case Ending::kCount_:
      break;
  }
  return "?";
}

Connection::Event Connection::open(const Target& target, const ConnectOptions& options) {
  *this = Connection{};
  socket_ = start_connect(target, options, error_);
  if (error_ != 0) return finish(error_ == ECONNREFUSED ? Ending::kRefused : Ending::kConnectFailed);
  connecting_ = true;
  return Event::kNothing;
}

Connection::Event Connection::connected() {
  error_ = connect_outcome(socket_.fd());
  if (error_ == ECONNREFUSED) return finish(Ending::kRefused);
  if (error_ == ECONNRESET) return finish(Ending::kResetUnused);
  if (error_ != 0) return finish(Ending::kConnectFailed);
  connecting_ = false;
  return Event::kConnected;
}

Connection::Event Connection::send(std::string_view request, std::size_t budget) {
  reader_.start(request.substr(0, 5) == "HEAD ");
  unsent_ = request;
  outstanding_ = true;
  ++sent_requests_;
  return write_some(budget);
}

Connection::Event Connection::on_ready(bool writable, std::size_t budget) {
  if (connecting_) return connected();
  if (writable && wants_write()) {
    const Event event = write_some(budget);
    if (event != Event::kNothing) return event;
  }
  return read_some(budget);
}

// A send that fails is no verdict: an answer may stand in the socket. Reading decides.
Connection::Event Connection::write_some(std::size_t budget) {
  const std::size_t size = std::min(budget, unsent_.size());
  const ssize_t sent = ::send(socket_.fd(), unsent_.data(), size, MSG_NOSIGNAL);
  if (sent >= 0) {
    unsent_.remove_prefix(static_cast<std::size_t>(sent));
    return Event::kNothing;
  }
  if (errno == EAGAIN || errno == EINTR) return Event::kNothing;
  send_broken_ = true;
  return read_some(kAll);
}

Connection::Event Connection::read_some(std::size_t budget) {
  char buffer[16 << 10];
  for (;;) {
    const std::size_t size = std::min(budget, sizeof(buffer));
    const ssize_t got = ::recv(socket_.fd(), buffer, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Event::kNothing;
    if (got <= 0) return stream_ended(got == 0 ? 0 : errno);
    const Event event = on_bytes(std::string_view(buffer, static_cast<std::size_t>(got)));
    if (event != Event::kNothing || static_cast<std::size_t>(got) < sizeof(buffer)) return event;
  }
}

Connection::Event Connection::on_bytes(std::string_view bytes) {
  // Nothing may come unasked.
  if (!outstanding_) return finish(Ending::kBadResponse);
  std::size_t used = 0;
  const ResponseReader::Result result = reader_.feed(bytes, used);
  if (result == ResponseReader::Result::kMore) return Event::kNothing;
  if (result == ResponseReader::Result::kBad || used < bytes.size()) return finish(Ending::kBadResponse);
  outstanding_ = false;
  close_announced_ = reader_.close_announced();
  ++answered_;
  return Event::kAnswered;
}

Connection::Event Connection::stream_ended(int error) {
  const bool reset = error != 0;
  if (outstanding_ && reader_.begun()) {
    if (!reset && reader_.end_of_stream() == ResponseReader::Result::kComplete) {
      outstanding_ = false;
      close_announced_ = true;
      ++answered_;
      return Event::kAnswered;  // the next read says end of stream again
    }
    return finish(Ending::kTruncated);
  }
  if (outstanding_ && reset) return finish(answered_ == 0 ? Ending::kResetFirst : Ending::kResetOutstanding);
  if (outstanding_) return finish(Ending::kEofOutstanding);
  if (sent_requests_ == 0) return finish(reset ? Ending::kResetUnused : Ending::kEofUnused);
  if (reset) return finish(Ending::kResetIdle);
  return finish(close_announced_ ? Ending::kCloseAnnounced : Ending::kEofIdle);
}

Connection::Event Connection::finish(Ending ending) {
  ending_ = ending;
  connecting_ = false;
  socket_.close();
  return Event::kEnded;
}

void Connection::end(Ending ending, bool with_reset) {
  if (with_reset) socket_.reset();
  finish(ending);
}

}  // namespace flare::tools
