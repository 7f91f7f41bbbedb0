#include "http_driver.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "flare/base/limits.h"
#include "flare/http/http_text.h"
#include "flare/reactor/event.h"

namespace flare::testing {

namespace {

std::string line_of(const std::string& text, std::size_t& at) {
  const std::size_t end = text.find("\r\n", at);
  if (end == std::string::npos) {
    ADD_FAILURE() << "no line end after: " << text.substr(at, 80);
    at = text.size();
    return {};
  }
  const std::string line = text.substr(at, end - at);
  at = end + 2;
  return line;
}

std::string read_chunks(const std::string& text, std::size_t& at) {
  std::string body;
  while (at < text.size()) {
    const std::size_t size = std::stoul(line_of(text, at), nullptr, 16);
    if (size > 0) body += text.substr(at, size);
    at += size;
    EXPECT_EQ("", line_of(text, at));
    if (size == 0) return body;
  }
  ADD_FAILURE() << "chunks without an end";
  return body;
}

}  // namespace

std::vector<Answer> read_answers(const std::string& text, const std::vector<std::size_t>& to_head) {
  std::vector<Answer> answers;
  std::size_t at = 0;
  while (at < text.size()) {
    Answer answer;
    const std::string status = line_of(text, at);
    EXPECT_TRUE(status.starts_with("HTTP/1.1 ")) << status;
    if (!status.starts_with("HTTP/1.1 ")) break;
    answer.status = std::stoi(status.substr(9, 3));
    for (std::string line = line_of(text, at); !line.empty(); line = line_of(text, at)) {
      const std::size_t colon = line.find(": ");
      std::string name = line.substr(0, colon);
      std::transform(name.begin(), name.end(), name.begin(), http_text::lower);
      EXPECT_EQ(0U, answer.headers.count(name)) << "twice: " << name;
      answer.headers[name] = line.substr(colon + 2);
    }
    const bool head = std::find(to_head.begin(), to_head.end(), answers.size()) != to_head.end();
    if (head || answer.status < 200 || answer.status == 204 || answer.status == 304) {
      // no body
    } else if (answer.headers.count("transfer-encoding") > 0) {
      answer.body = read_chunks(text, at);
    } else if (answer.headers.count("content-length") > 0) {
      const std::size_t length = std::stoul(answer.headers["content-length"]);
      EXPECT_LE(at + length, text.size()) << "a cut body";
      answer.body = text.substr(at, length);
      at += length;
    } else {
      answer.body = text.substr(at);
      at = text.size();
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

HttpDriver::HttpDriver(HttpHandler handler, HttpConfig config)
    : protocol_(std::make_unique<HttpProtocol>(config, std::move(handler), stats_, stop_)) {
  start();
}

HttpDriver::HttpDriver(HttpResponse fixed, HttpConfig config)
    : protocol_(std::make_unique<HttpProtocol>(config, std::move(fixed), stats_, stop_)) {
  start();
}

void HttpDriver::start() {
  scratch_.resize(limits::kScratchBytes);
  connection_ = protocol_->open();
  took(connection_->on_open(wire()));
}

Wire HttpDriver::wire() {
  return {server_fd(), now_, 1, 0, scratch_.data(), scratch_.size(), draining_};
}

// What the loop does when a connection ends: FIN, and for a direct close the number too.
void HttpDriver::took(Step step) {
  ++calls_;
  step_ = step;
  now_ += protocol_->handler_time() - std::exchange(handler_time_, protocol_->handler_time());
  std::fill(scratch_.begin(), scratch_.end(), '#');  // nobody may rely on it between calls
  if (step.kind == Step::Kind::kKeep) return;
  ::shutdown(server_fd(), SHUT_WR);
  if (step.kind == Step::Kind::kClose) sockets_.a.reset();
}

void HttpDriver::run() {
  for (int guard = 0; open() && guard < 100'000; ++guard) {
    pollfd ready{server_fd(), 0, 0};
    if ((step_.interest & INTEREST_READ) != 0) ready.events |= POLLIN | POLLRDHUP;
    if ((step_.interest & INTEREST_WRITE) != 0) ready.events |= POLLOUT;
    const bool again = step_.again;
    const int count = ::poll(&ready, 1, 0);
    if (count > 0) {
      const int bits = ready.revents;
      took(connection_->on_ready(wire(), {(bits & POLLIN) != 0, (bits & POLLOUT) != 0, (bits & POLLERR) != 0,
                                          (bits & (POLLHUP | POLLRDHUP)) != 0}));
    }
    if (open() && again) took(connection_->on_turn(wire()));
    if (count <= 0 && !again) return;
  }
}

void HttpDriver::pass(std::chrono::milliseconds time) {
  now_ += time;
  if (open() && step_.deadline <= now_) took(connection_->on_deadline(wire()));
}

void HttpDriver::drain() {
  draining_ = true;
  stop_.request();
  if (open()) took(connection_->on_drain(wire()));
}

void HttpDriver::grace_over() {
  if (open()) took(connection_->on_grace_over(wire()));
}

void HttpDriver::shrink_buffers() {
  const int size = 4096;
  ::setsockopt(sockets_.a.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  ::setsockopt(sockets_.b.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

void HttpDriver::send(const std::string& bytes) {
  std::size_t at = 0;
  for (int guard = 0; at < bytes.size() && guard < 100'000; ++guard) {
    const ssize_t sent = ::send(sockets_.b.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent > 0) at += static_cast<std::size_t>(sent);
    if (sent < 0 && errno != EAGAIN) return;  // the server has closed
    if (at < bytes.size()) {
      run();
      if (!open()) return;
      received_ += read();
    }
  }
}

int HttpDriver::grow_buffers(int size) {
  int got = 0;
  socklen_t length = sizeof got;
  ::setsockopt(sockets_.a.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  ::getsockopt(sockets_.a.get(), SOL_SOCKET, SO_SNDBUF, &got, &length);
  return got;
}

void HttpDriver::send_end() {
  ::shutdown(sockets_.b.get(), SHUT_WR);
}

std::string HttpDriver::read() {
  std::string out;
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::recv(sockets_.b.get(), buffer, sizeof buffer, 0);
    if (got > 0) {
      out.append(buffer, static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0) end_ = true;
    if (got < 0 && errno != EAGAIN) reset_ = true;
    return out;
  }
}

bool HttpDriver::client_sees_end() {
  return end_ && !reset_;
}

std::vector<Answer> HttpDriver::exchange(const std::string& bytes, const std::vector<std::size_t>& to_head) {
  received_.clear();
  send(bytes);
  for (int guard = 0; guard < 100'000; ++guard) {
    run();
    const std::string part = read();
    received_ += part;
    if (part.empty()) break;
  }
  return read_answers(received_, to_head);
}

}  // namespace flare::testing
