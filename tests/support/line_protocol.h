// line_protocol.h: the smallest protocol there is: each line that comes in is answered by one line.
//
// Its handler runs on the worker. After "quit\n" the connection is closed. It follows the rules of draining: what was
// read whole is answered, else what was begun, else the first line within the grace; then it lingers.
#pragma once

#include <cerrno>
#include <functional>
#include <memory>
#include <string>

#include "flare/kernel/system_kernel.h"
#include "flare/reactor/event.h"
#include "flare/worker/connection.h"
#include "flare/worker/worker_context.h"

namespace flare::testing {

// Gets the line without its end and the worker's id; returns the answer without its end.
using LineHandler = std::function<std::string(const std::string& line, int worker)>;

class LineConnection : public Connection {
 public:
  LineConnection(const LineHandler& handler, WorkerStats& stats) : handler_(handler), stats_(stats) {}

  Step on_open(const Wire&) override { return Step::keep(INTEREST_READ); }
  Step on_turn(const Wire&) override { return Step::keep(INTEREST_READ); }
  Step on_deadline(const Wire&) override { return Step::close(CloseReason::kDeadline); }
  bool unanswered() const override { return !in_.empty() || !out_.empty(); }

  Step on_ready(const Wire& wire, Readiness) override {
    if (!flush(wire)) return Step::close(CloseReason::kPeerGone);
    const Result<std::size_t> got = SystemKernel::recv(wire.fd, wire.scratch, wire.scratch_size);
    if (!got.ok()) {
      if (got.error() == EAGAIN || got.error() == EINTR) return next();
      return Step::close(CloseReason::kPeerGone);
    }
    if (got.value() == 0) return Step::close(CloseReason::kPeerGone);
    in_.append(wire.scratch, got.value());
    return answer(wire);
  }
  Step on_drain(const Wire& wire) override {
    draining_ = true;
    return answer(wire);
  }
  Step on_grace_over(const Wire& wire) override {
    const Step step = on_ready(wire, {});
    if (step.kind != Step::Kind::kKeep || unanswered()) return step;
    return Step::linger(CloseReason::kIdleDrained);
  }

 private:
  Step answer(const Wire& wire) {
    for (std::size_t end = in_.find('\n'); end != std::string::npos; end = in_.find('\n')) {
      const std::string line = in_.substr(0, end);
      in_.erase(0, end + 1);
      if (line == "quit") return Step::close(CloseReason::kAnswered);
      out_ += handler_(line, wire.worker) + "\n";
      stats_.requests.add();
      last_answered_ = draining_;
    }
    if (!flush(wire)) return Step::close(CloseReason::kPeerGone);
    return next();
  }
  // What the socket has no room for now waits. False: the peer is gone.
  bool flush(const Wire& wire) {
    while (!out_.empty()) {
      const Result<std::size_t> sent = SystemKernel::send(wire.fd, out_.data(), out_.size());
      if (!sent.ok() && sent.error() == EINTR) continue;
      if (!sent.ok()) return sent.error() == EAGAIN;
      out_.erase(0, sent.value());
    }
    return true;
  }
  Step next() const {
    if (!out_.empty()) return Step::keep(INTEREST_READ | INTEREST_WRITE);
    return last_answered_ ? Step::linger(CloseReason::kAnswered) : Step::keep(INTEREST_READ);
  }

  const LineHandler& handler_;
  WorkerStats& stats_;
  std::string in_;
  std::string out_;
  bool draining_ = false;
  bool last_answered_ = false;  // the last answer of a drain: linger once it is sent
};

class LineProtocol : public Protocol {
 public:
  LineProtocol(const LineHandler& handler, WorkerStats& stats) : handler_(handler), stats_(stats) {}
  std::unique_ptr<Connection> open() override { return std::make_unique<LineConnection>(handler_, stats_); }

 private:
  const LineHandler& handler_;
  WorkerStats& stats_;
};

class LineFrontend {
 public:
  explicit LineFrontend(LineHandler handler) : handler_(std::move(handler)) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    LineProtocol protocol(handler_, context.stats());
    context.serve(protocol);
  }

 private:
  LineHandler handler_;
};

}  // namespace flare::testing
