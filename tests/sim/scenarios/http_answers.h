// http_answers.h: what HTTP clients of the scenarios send, and what they must get, byte for byte.
// Threads:    threads of a schedule.
// Ordering:   the handler tells in its answer what it saw, so that scenarios share no plain field with workers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "flare/base/sync.h"
#include "flare/http/http_frontend.h"
#include "scenarios/waiting.h"

namespace flare::sim {

// Answers with what was asked, and with whether the drain was about to begin.
struct Telling {
  std::shared_ptr<Atomic<bool>> drain_begins = {};
  HttpResponse operator()(const HttpRequest& request) const {
    HttpResponse response;
    response.body.append(request.method).append(" ").append(request.target).append(" ").append(request.body);
    response.body += drain_begins != nullptr && drain_begins->load() ? " 1" : " 0";
    return response;
  }
};
using HttpServer = Scheduler<HttpFrontend<Telling>>;

inline HttpServer start_http(const Setup& setup, Telling handler = {}, HttpConfig config = {}) {
  config.worker_headers = true;
  return HttpServer::start(SocketAddress::loopback_v4(), HttpFrontend<Telling>(std::move(handler), config),
                           setup.workers, false, {}, options_of(setup));
}

inline std::string get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}
inline std::string post(std::string_view target, std::size_t size) {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
}

// What differs from one answer to a request to another.
struct Answer {
  bool drain_begins = false;  // as the handler saw it
  bool last = false;          // says Connection: close
  char accepted_by = '0';
  char worker = '0';
  bool was_handed_over() const { return accepted_by != worker; }
};

// A schedule begins at one moment and takes less than a second, so Date is the same in all of them.
inline std::string head_text(std::string_view status, std::size_t size, std::string_view headers, const Answer& one) {
  std::string text = "HTTP/1.1 " + std::string(status) + "\r\nDate: Tue, 14 Nov 2023 22:30:00 GMT\r\nContent-Length: ";
  text.append(std::to_string(size)).append("\r\n").append(headers);
  text.append("X-Flare-Accepted-By: ").append(1, one.accepted_by);
  text.append("\r\nX-Flare-Worker: ").append(1, one.worker);
  return text + (one.last ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
}
inline std::string answer_text(std::string_view asked, const Answer& one) {
  const std::string body = std::string(asked) + (one.drain_begins ? " 1" : " 0");
  return head_text("200 OK", body.size(), {}, one) + body;
}
inline std::string refusal_text(std::string_view status, std::string_view reason, const Answer& one) {
  const std::string body = std::string(reason) + "\n";
  return head_text(status, body.size(), "Content-Type: text/plain\r\n", one) + body;
}

inline char at_or_0(std::string_view text, std::size_t at) {
  return at < text.size() ? text[at] : '0';
}
// What an answer says of itself where answers may differ.
inline Answer said_by(std::string_view text, std::string_view asked) {
  const std::size_t end = text.find("\r\n\r\n");
  const std::string_view head = text.substr(0, end);
  const auto after = [head](std::string_view name) {
    const std::size_t at = head.find(name);
    return at == std::string_view::npos ? '0' : at_or_0(head, at + name.size());
  };
  Answer one;
  one.drain_begins = end != std::string_view::npos && at_or_0(text, end + 4 + asked.size() + 1) == '1';
  one.last = head.find("\r\nConnection: close") != std::string_view::npos;
  one.accepted_by = after("Accepted-By: ");
  one.worker = after("Worker: ");
  return one;
}
// Takes the answer off the front of text. Nothing: what stands there is not the answer to what was asked.
inline std::optional<Answer> take_answer(std::string& text, std::string_view asked) {
  const Answer one = said_by(text, asked);
  const std::string wanted = answer_text(asked, one);
  if (!text.starts_with(wanted)) return std::nullopt;
  text.erase(0, wanted.size());
  return one;
}

inline void send_all(Client& client, std::string_view text) {
  require(client.connected() && client.send(text), "service", "a client was refused");
}
// An answer after which the connection stays open.
inline Answer next_answer(Client& client, std::string_view asked) {
  std::string text = client.bytes(answer_text(asked, {}).size()).value_or("");
  const std::optional<Answer> one = take_answer(text, asked);
  require(one.has_value() && !one->last, "answer", "another answer than expected, or none");
  return *one;
}
// All that comes to the end of the stream, which is no reset.
inline std::string rest_of(Client& client) {
  require(client.await_end() == StreamEnd::kEof, "answer", "a connection was reset");
  return client.unread();
}

}  // namespace flare::sim
