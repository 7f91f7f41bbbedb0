// counts: runs one case a number of times inside `counted`, whose instructions valgrind counts. See run.py.
//
//   counts CASE TIMES      exit 0; 2: usage
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flare/base/unique_fd.h"
#include "flare/handoff/handoff_queue.h"
#include "flare/http/http_protocol.h"
#include "flare/http/request_reader.h"
#include "flare/reactor/reactor.h"
#include "flare/timer/timer_wheel.h"
#include "harness/requests.h"

namespace {

class Case {
 public:
  Case() = default;
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  virtual ~Case() = default;
  virtual void once() = 0;
};

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

class QueuePushPop : public Case {
  void once() override {
    if (!queue_.push(7) || !queue_.pop()) std::abort();
  }
  flare::HandoffQueue queue_{64};
};

// 64 tokens that leave at once.
class QueueDrain : public Case {
  void once() override {
    for (std::int64_t token = 0; token < 64; ++token) queue_.push(token);
    queue_.drain(out_);
    if (out_.size() != 64) std::abort();
  }
  flare::HandoffQueue queue_{64};
  std::vector<std::int64_t> out_;
};

// A busy connection's deadline moves on, and the loop asks for the next one.
class WheelRearm : public Case {
 public:
  WheelRearm() {
    for (std::uint64_t token = 0; token < 1000; ++token) ids_.push_back(wheel_.schedule(60'000 + token, token));
  }

 private:
  void once() override {
    if (!wheel_.cancel(ids_[at_])) std::abort();
    ids_[at_] = wheel_.schedule(60'000, at_);
    if (!wheel_.next_deadline_ms()) std::abort();
    at_ = (at_ + 1) % ids_.size();
  }
  flare::TimerWheel wheel_;
  std::vector<flare::TimerId> ids_;
  std::size_t at_ = 0;
};

class Parse : public Case {
  void once() override {
    flare::RequestReader reader;
    if (reader.read(data_.data(), data_.size(), config_, request_) != flare::RequestReader::Result::kRequest)
      std::abort();
  }
  std::string data_{flare::bench::kBrowser};
  flare::HttpConfig config_;
  flare::HttpRequest request_;
};

// 64 descriptors are ready, and each event is asked whether it still holds.
class Dispatch : public Case {
 public:
  Dispatch() {
    for (std::uint64_t token = 0; token < 64; ++token) {
      ready_.emplace_back(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
      if (ready_.back().get() < 0) give_up("eventfd");
      reactor_.register_fd(ready_.back().get(), token, flare::INTEREST_READ);
    }
  }

 private:
  void once() override {
    if (reactor_.poll(0, events_, 64) != 64) std::abort();
    for (const flare::Event& event : events_) {
      if (!event.is_readable() || !reactor_.is_current(event, flare::INTEREST_READ)) std::abort();
    }
  }
  std::vector<flare::UniqueFd> ready_;
  flare::Reactor reactor_;
  std::vector<flare::Event> events_;
};

// One request and its answer on a kept connection, without the loop: what a serving worker adds to two system calls.
class Request : public Case {
 public:
  explicit Request(bool has_handler) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) give_up("socketpair");
    server_.reset(ends[0]);
    client_.reset(ends[1]);
    flare::HttpResponse answer;
    answer.body = "Hello, World!";
    answer.headers = {{"Content-Type", "text/plain"}};
    if (has_handler) {
      const flare::HttpHandler handler = [answer](const flare::HttpRequest&) { return answer; };
      protocol_ = std::make_unique<flare::HttpProtocol>(flare::HttpConfig{}, handler, stats_, stop_);
    } else {
      protocol_ = std::make_unique<flare::HttpProtocol>(flare::HttpConfig{}, answer, stats_, stop_);
    }
    connection_ = protocol_->open();
    connection_->on_open(wire());
  }

 private:
  static constexpr std::string_view kSmall = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

  flare::Wire wire() {
    return {server_.get(), flare::MonoTime(std::chrono::seconds(1000)), 0, 0, scratch_.data(), scratch_.size(), false};
  }
  void once() override {
    if (::send(client_.get(), kSmall.data(), kSmall.size(), MSG_NOSIGNAL) < 0) give_up("send");
    const flare::Step step = connection_->on_ready(wire(), {.readable = true});
    if (step.kind != flare::Step::Kind::kKeep || ::recv(client_.get(), answer_.data(), answer_.size(), 0) < 64)
      std::abort();
  }
  flare::UniqueFd server_;
  flare::UniqueFd client_;
  flare::WorkerStats stats_;
  flare::StopCell stop_;
  std::unique_ptr<flare::HttpProtocol> protocol_;
  std::unique_ptr<flare::Connection> connection_;
  std::vector<char> scratch_ = std::vector<char>(flare::limits::kScratchBytes);
  std::array<char, 4096> answer_;
};

struct Named {
  std::string_view name;
  std::function<std::unique_ptr<Case>()> make;
};

const std::array<Named, 7> kCases{{
    {"queue-push-pop", [] { return std::make_unique<QueuePushPop>(); }},
    {"queue-drain-64", [] { return std::make_unique<QueueDrain>(); }},
    {"wheel-rearm", [] { return std::make_unique<WheelRearm>(); }},
    {"parse-browser", [] { return std::make_unique<Parse>(); }},
    {"dispatch-64", [] { return std::make_unique<Dispatch>(); }},
    {"request-static", [] { return std::make_unique<Request>(false); }},
    {"request-handler", [] { return std::make_unique<Request>(true); }},
}};

}  // namespace

// By this name valgrind knows what to count.
extern "C" __attribute__((noinline)) void counted(Case* one, int times) {
  for (int i = 0; i < times; ++i) one->once();
}

int main(int argc, char** argv) {
  int times = 0;
  if (argc == 3) {
    const std::string_view text = argv[2];
    if (std::from_chars(text.data(), text.data() + text.size(), times).ptr != text.data() + text.size()) times = 0;
    for (const Named& named : kCases) {
      if (named.name != argv[1] || times < 1) continue;
      const std::unique_ptr<Case> one = named.make();
      one->once();  // what is allocated once, or resolved, is not counted
      counted(one.get(), times);
      return 0;
    }
  }
  std::fprintf(stderr, "usage: counts CASE TIMES, TIMES 1 or more, CASE one of:");
  for (const Named& named : kCases)
    std::fprintf(stderr, " %.*s", static_cast<int>(named.name.size()), named.name.data());
  std::fprintf(stderr, "\n");
  return 2;
}
