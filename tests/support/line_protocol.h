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
  bool unanswered() const override { return !in_.empty(); }

  Step on_ready(const Wire& wire, Readiness) override {
    const Result<std::size_t> got = SystemKernel::recv(wire.fd, wire.scratch, wire.scratch_size);
    if (!got.ok()) {
      if (got.error() == EAGAIN || got.error() == EINTR) return Step::keep(INTEREST_READ);
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
    if (step.kind != Step::Kind::kKeep || !in_.empty()) return step;
    return Step::linger(CloseReason::kIdleDrained);
  }

 private:
  Step answer(const Wire& wire) {
    bool answered = false;
    for (std::size_t end = in_.find('\n'); end != std::string::npos; end = in_.find('\n')) {
      const std::string line = in_.substr(0, end);
      in_.erase(0, end + 1);
      if (line == "quit") return Step::close(CloseReason::kAnswered);
      const std::string text = handler_(line, wire.worker) + "\n";
      static_cast<void>(SystemKernel::send(wire.fd, text.data(), text.size()));
      stats_.requests.add();
      answered = true;
    }
    if (draining_ && answered) return Step::linger(CloseReason::kAnswered);
    return Step::keep(INTEREST_READ);
  }

  const LineHandler& handler_;
  WorkerStats& stats_;
  std::string in_;
  bool draining_ = false;
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
