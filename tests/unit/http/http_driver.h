// http_driver.h: plays the serving loop for one HTTP connection over a socket pair, with its own time.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "flare/http/http_protocol.h"
#include "flare/worker/connection.h"
#include "support/loopback.h"

namespace flare::testing {

// One answer as a strict client reads it.
struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool closes() const { return headers.count("connection") > 0 && headers.at("connection") == "close"; }
};

// Reads answers until the text ends. to_head: indices of answers to HEAD. A text that is no sequence of whole answers
// fails the test.
std::vector<Answer> read_answers(const std::string& text, const std::vector<std::size_t>& to_head = {});

class HttpDriver {
 public:
  explicit HttpDriver(HttpHandler handler, HttpConfig config = {});
  explicit HttpDriver(HttpResponse fixed, HttpConfig config = {});

  // The client's side.
  void send(const std::string& bytes);  // runs the loop as long as the socket is full
  void send_end();
  void close_client() { sockets_.b.reset(); }
  std::string read();  // what is there
  std::string& received() { return received_; }
  bool client_sees_end();  // after read(): the end of the stream, and no reset

  // The loop's side.
  void run();                                 // until nothing is ready
  void pass(std::chrono::milliseconds time);  // then fires the deadline if it is due
  void drain();
  void grace_over();
  void shrink_buffers();       // of the kernel, so that answers do not fit
  int grow_buffers(int size);  // so that they do; returns what the system gave
  // Sends, runs, reads.
  std::vector<Answer> exchange(const std::string& bytes, const std::vector<std::size_t>& to_head = {});

  const Step& step() const { return step_; }
  bool open() const { return step_.kind == Step::Kind::kKeep; }
  bool lingers() const { return step_.kind == Step::Kind::kLinger; }
  Connection& connection() { return *connection_; }
  WorkerStats& stats() { return stats_; }
  StopCell& stop() { return stop_; }
  HttpProtocol& protocol() { return *protocol_; }
  char* scratch() { return scratch_.data(); }
  std::size_t scratch_size() const { return scratch_.size(); }
  int calls() const { return calls_; }
  int server_fd() const { return sockets_.a.get(); }
  std::chrono::milliseconds until_deadline() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(step_.deadline - now_);
  }

 private:
  void start();
  Wire wire();
  void took(Step step);

  SocketPair sockets_;
  WorkerStats stats_;
  StopCell stop_;
  std::unique_ptr<HttpProtocol> protocol_;
  std::unique_ptr<Connection> connection_;
  std::vector<char> scratch_;
  MonoTime now_{std::chrono::seconds(1000)};  // goes on by pass(), and by what handlers really take
  Duration handler_time_{};
  Step step_;
  std::string received_;
  bool draining_ = false;
  bool reset_ = false;
  bool end_ = false;
  int calls_ = 0;
};

}  // namespace flare::testing
