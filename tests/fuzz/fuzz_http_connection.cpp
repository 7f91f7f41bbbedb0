// Bytes to one HTTP connection, in any splits and through a read buffer of any size, against framing_oracle.h: which
// requests the handler sees, what is answered, and whether the connection then ends.
//
// An input: a byte of flags (bit 0: the client ends its half at the end; bits 1 to 3: how many sizes follow), the size
// of the read buffer, the sizes of the pieces, used in turn (none: all at once), and the stream.
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flare/base/unique_fd.h"
#include "flare/http/http_protocol.h"
#include "flare/reactor/event.h"
#include "flare/worker/connection.h"
#include "framing_oracle.h"
#include "target.h"

namespace flare::fuzz {
namespace {

constexpr std::size_t kMostBytes = 4000;  // below the limits of extensions and trailers, which the oracle lacks

struct Input {
  Input(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return;
    half_close = (data[0] & 1U) != 0;
    buffer = 16 + std::size_t{data[1]} * 4;
    const std::size_t count = std::min<std::size_t>(data[0] >> 1U & 7U, size - 2);
    for (std::size_t i = 0; i < count; ++i) pieces.push_back(std::size_t{1} + data[2 + i]);
    const std::size_t begin = 2 + count;
    stream = {reinterpret_cast<const char*>(data) + begin, std::min(size - begin, kMostBytes)};
  }
  bool half_close = false;
  std::size_t buffer = 16;
  std::vector<std::size_t> pieces;
  std::string_view stream;
};

HttpConfig small_config() {
  HttpConfig config;
  config.max_head_bytes = 512;
  config.max_target_bytes = 64;
  config.max_headers = 8;
  config.max_body_bytes = 256;
  return config;
}

Limits limits_of(const HttpConfig& config) {
  return {config.max_head_bytes, config.max_target_bytes, config.max_headers, config.max_body_bytes};
}

struct Answer {
  int status = 0;
  bool closes = false;
  std::size_t length = 0;
};

// The serving loop for one connection, and its client.
class Server {
 public:
  explicit Server(std::size_t buffer);
  // False: the connection has ended; the rest is not read.
  bool receive(std::string_view bytes);
  void receive_end();
  bool open() const { return step_.kind == Step::Kind::kKeep; }
  const std::vector<Message>& messages() const { return messages_; }
  const std::string& answers() const { return answers_; }

 private:
  HttpResponse handle(const HttpRequest& request);
  Wire wire() {
    return {server_.get(), MonoTime{std::chrono::seconds(1000)}, 1, 0, scratch_.data(), scratch_.size(), false};
  }
  void run(bool ends);
  void took(Step step);
  void read_answers();

  UniqueFd server_;
  UniqueFd client_;
  WorkerStats stats_;
  StopCell stop_;
  HttpProtocol protocol_;
  std::vector<char> scratch_;
  Step step_;
  std::vector<Message> messages_;
  std::string answers_;
  std::unique_ptr<Connection> connection_;
};

Server::Server(std::size_t buffer)
    : protocol_(
          small_config(), [this](const HttpRequest& request) { return handle(request); }, stats_, stop_),
      scratch_(buffer) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::exit(1);
  server_.reset(ends[0]);
  client_.reset(ends[1]);
  connection_ = protocol_.open();
  took(connection_->on_open(wire()));
}

HttpResponse Server::handle(const HttpRequest& request) {
  Message message;
  message.method = request.method;
  message.target = request.target;
  message.minor = request.version_minor;
  for (const HttpHeader& header : request.headers) message.headers.emplace_back(header.name, header.value);
  message.body = request.body;
  messages_.push_back(std::move(message));
  return HttpResponse{};
}

// Nobody may rely on the worker's buffer between two calls.
void Server::took(Step step) {
  step_ = step;
  std::fill(scratch_.begin(), scratch_.end(), '#');
}

bool Server::receive(std::string_view bytes) {
  if (::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
    std::exit(1);
  run(false);
  return open();
}

void Server::receive_end() {
  ::shutdown(client_.get(), SHUT_WR);
  run(true);
}

void Server::run(bool ends) {
  int unread = 0;
  for (std::size_t guard = 0; open(); ++guard) {
    require(guard < 2 * kMostBytes, 0, "the connection does not come to rest");
    if (step_.again) {
      took(connection_->on_turn(wire()));
      continue;
    }
    ::ioctl(server_.get(), FIONREAD, &unread);
    if (unread == 0 && !ends) break;
    require((step_.interest & INTEREST_READ) != 0, 0, "the connection does not read");
    took(connection_->on_ready(wire(), {.readable = true, .writable = false, .error = false, .hup = ends}));
  }
  read_answers();
}

void Server::read_answers() {
  std::array<char, 4096> bytes;
  for (;;) {
    const ssize_t got = ::recv(client_.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) return;
    answers_.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

// Takes one answer off the front; its body is there if its length says so and it is not to HEAD.
Answer take_answer(std::string_view& text, bool to_head) {
  constexpr std::string_view kBegin = "HTTP/1.1 ";
  const std::size_t end = text.find("\r\n\r\n");
  require(text.starts_with(kBegin) && end != std::string_view::npos, 0, "an answer that is none");
  const std::string_view head = text.substr(0, end + 2);
  text.remove_prefix(end + 4);
  Answer answer;
  answer.status = std::atoi(std::string(head.substr(kBegin.size(), 3)).c_str());
  answer.closes = head.find("\r\nConnection: close\r\n") != std::string_view::npos;
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t at = head.find(kLength);
  require(answer.status == 100 || at != std::string_view::npos, 0, "an answer without a length");
  if (answer.status == 100) return answer;
  answer.length = static_cast<std::size_t>(std::atol(std::string(head.substr(at + kLength.size())).c_str()));
  if (to_head) return answer;
  require(answer.length <= text.size(), 0, "an answer's body is cut");
  text.remove_prefix(answer.length);
  return answer;
}

std::string text_of(const Message& message) {
  std::string text = message.method + ' ' + message.target + " 1." + std::to_string(message.minor);
  for (const auto& [name, value] : message.headers) text += " | " + name + ": " + value;
  return text + " | body '" + message.body + "'";
}

void compare_messages(const Reading& expected, const std::vector<Message>& got) {
  for (std::size_t i = 0; i < std::min(expected.messages.size(), got.size()); ++i) {
    Message want = expected.messages[i];
    want.expects = want.last = false;
    if (got[i] != want) fail(i, "the handler saw: " + text_of(got[i]) + "\nexpected: " + text_of(want));
  }
  if (got.size() > expected.messages.size()) fail(got.size(), "the handler saw one more: " + text_of(got.back()));
  if (got.size() < expected.messages.size()) {
    fail(got.size(), "the handler did not see: " + text_of(expected.messages[got.size()]));
  }
}

// One 200 for each request, then the refusal; 100s only where they are expected.
void compare_answers(const Reading& expected, bool half_closed, std::string_view text) {
  std::size_t continues = 0;
  std::size_t may_continue = expected.expecting ? 1 : 0;
  for (const Message& message : expected.messages) may_continue += message.expects ? 1 : 0;
  std::size_t answered = 0;
  const bool cut = half_closed && expected.end == Reading::End::kOpen && expected.begun;
  const bool refused = expected.end == Reading::End::kRefused || cut;
  while (!text.empty()) {
    const bool of_message = answered < expected.messages.size();
    const bool to_head = of_message ? expected.messages[answered].method == "HEAD" : expected.to_head;
    const Answer answer = take_answer(text, to_head);
    if (answer.status == 100) {
      require(++continues <= may_continue, answered, "100 (Continue) to whom did not ask");
      continue;
    }
    if (of_message) {
      require(answer.status == 200, answered, "a request was refused");
      require(answer.closes == expected.messages[answered].last, answered, "Connection: close");
    } else {
      require(refused && answered == expected.messages.size(), answered, "an answer to nothing");
      const bool right = cut ? answer.status == 400 : expected.statuses.contains(answer.status);
      if (!right) fail(answered, "refused with " + std::to_string(answer.status));
      require(answer.closes, answered, "a refusal that does not close");
      // Whether a head that is refused is a HEAD's is known or not, as far as it was read.
      if (to_head && text.size() == answer.length) text = {};
    }
    ++answered;
  }
  require(answered == expected.messages.size() + (refused ? 1 : 0), answered, "an answer is missing");
}

void run(const Input& input) {
  Server server(input.buffer);
  std::size_t at = 0;
  for (std::size_t i = 0; at < input.stream.size(); ++i) {
    const std::size_t left = input.stream.size() - at;
    const std::size_t size = input.pieces.empty() ? left : std::min(left, input.pieces[i % input.pieces.size()]);
    if (!server.receive(input.stream.substr(at, size))) break;
    at += size;
  }
  const bool half_close = input.half_close && server.open();
  if (half_close) server.receive_end();
  const Reading expected = read_stream(input.stream, limits_of(small_config()));
  compare_messages(expected, server.messages());
  compare_answers(expected, half_close, server.answers());
  const bool stays = expected.end == Reading::End::kOpen && !half_close;
  require(server.open() == stays, server.messages().size(),
          stays ? "the connection ended" : "the connection stays open");
}

}  // namespace

std::string dump_text(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  std::string text = "read buffer " + std::to_string(input.buffer) + ", pieces of";
  for (const std::size_t piece : input.pieces) text += ' ' + std::to_string(piece);
  text += input.pieces.empty() ? " any size" : "";
  text += input.half_close ? ", then the client ends its half\n" : "\n";
  std::string_view left = input.stream;
  while (!left.empty()) {
    const std::size_t line = std::min(left.find('\n'), left.size() - 1) + 1;
    text += escaped(reinterpret_cast<const std::uint8_t*>(left.data()), line) + '\n';
    left.remove_prefix(line);
  }
  return text;
}

}  // namespace flare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flare::fuzz::begin_input(data, size);
  flare::fuzz::run(flare::fuzz::Input(data, size));
  return 0;
}
