// hook_frontend.h: a line protocol whose every call can be replaced by a test, and the servers that the tests start.
//
// Commands: "who" is answered by "SERVED ACCEPTED" (two worker ids), "hold" waits for the gate and is answered by
// "held" ("hold2": the second gate), "throw" throws, "quit" closes, anything else is echoed.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "flare/scheduler/scheduler.h"
#include "support/deferred.h"
#include "support/line_client.h"
#include "support/line_protocol.h"
#include "support/own_loopback.h"
#include "support/wait_until.h"

namespace flare::testing {

// Holds handlers until it is opened.
class Gate {
 public:
  void enter() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_;
    opened_.wait(lock, [this] { return open_; });
    --waiting_;
  }
  void open() { set(true); }
  void close() { set(false); }
  int waiting() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return waiting_;
  }

 private:
  void set(bool open) {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = open;
    opened_.notify_all();
  }
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  int waiting_ = 0;
  bool open_ = false;
};

// What a test puts in place of a call; an empty one leaves the line protocol's own. Outlives the server.
struct Hooks {
  std::function<void(int worker)> before_open;  // in Protocol::open
  std::function<Step(const Wire&)> on_open, on_turn, on_deadline, on_drain, on_grace_over;
  std::function<Step(const Wire&, Readiness)> on_ready;
  std::function<void(int worker)> before_serve;
  Gate gate;
  Gate second_gate;
};

class HookConnection : public LineConnection {
 public:
  HookConnection(const Hooks& hooks, const LineHandler& handler, int& accepted_by, WorkerStats& stats)
      : LineConnection(handler, stats), hooks_(hooks), accepted_by_(accepted_by) {}

  Step on_open(const Wire& w) override { return hooks_.on_open ? hooks_.on_open(w) : LineConnection::on_open(w); }
  Step on_turn(const Wire& w) override { return hooks_.on_turn ? hooks_.on_turn(w) : LineConnection::on_turn(w); }
  Step on_drain(const Wire& w) override { return hooks_.on_drain ? hooks_.on_drain(w) : LineConnection::on_drain(w); }
  Step on_deadline(const Wire& w) override {
    return hooks_.on_deadline ? hooks_.on_deadline(w) : LineConnection::on_deadline(w);
  }
  Step on_grace_over(const Wire& w) override {
    return hooks_.on_grace_over ? hooks_.on_grace_over(w) : LineConnection::on_grace_over(w);
  }
  Step on_ready(const Wire& w, Readiness ready) override {
    accepted_by_ = w.accepted_by;
    return hooks_.on_ready ? hooks_.on_ready(w, ready) : LineConnection::on_ready(w, ready);
  }

 private:
  const Hooks& hooks_;
  int& accepted_by_;
};

class HookFrontend {
 public:
  explicit HookFrontend(Hooks& hooks) : hooks_(&hooks) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    if (hooks_->before_serve) hooks_->before_serve(context.id());
    HookProtocol protocol(*hooks_, context);
    context.serve(protocol);
  }

 private:
  class HookProtocol : public Protocol {
   public:
    HookProtocol(Hooks& hooks, WorkerContext& context) : hooks_(hooks), context_(context) {
      handler_ = [this](const std::string& line, int worker) -> std::string {
        if (line == "who") return std::to_string(worker) + " " + std::to_string(accepted_by_);
        if (line == "throw") throw std::runtime_error("asked to throw");
        if (line == "hold") {
          hooks_.gate.enter();
          return "held";
        }
        if (line == "hold2") {
          hooks_.second_gate.enter();
          return "held2";
        }
        return line;
      };
    }
    std::unique_ptr<Connection> open() override {
      if (hooks_.before_open) hooks_.before_open(context_.id());
      return std::make_unique<HookConnection>(hooks_, handler_, accepted_by_, context_.stats());
    }

   private:
    Hooks& hooks_;
    WorkerContext& context_;
    int accepted_by_ = -1;
    LineHandler handler_;
  };

  Hooks* hooks_;
};

// What the workers share, as soon as one of them has begun.
class Insight {
 public:
  void set(Shared<WorkerShared> shared) {
    const std::lock_guard<std::mutex> lock(mutex_);
    shared_ = std::move(shared);
  }
  Shared<WorkerShared> get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return shared_;
  }

 private:
  mutable std::mutex mutex_;
  Shared<WorkerShared> shared_;
};

class OpenFrontend : public HookFrontend {
 public:
  OpenFrontend(Hooks& hooks, Insight& insight) : HookFrontend(hooks), insight_(&insight) {}
  void run_worker(WorkerContext& context) {
    insight_->set(context.shared());
    HookFrontend::run_worker(context);
  }

 private:
  Insight* insight_;
};

using HookScheduler = Scheduler<HookFrontend>;

// No poll cap: a wake that is lost is a client that waits until its own deadline, not 100 ms.
inline SchedulerOptions uncapped(ListenerStrategy strategy, HandoffPolicy policy = {}) {
  SchedulerOptions options;
  options.policy = policy;
  options.strategy = strategy;
  options.listener.defer_accept_s = defer_accept_s();
  options.serving.poll_cap = std::chrono::milliseconds(-1);
  options.serving.error_sink = [](std::string_view) {};
  return options;
}
inline HookScheduler serve(Hooks& hooks, int workers, const SchedulerOptions& options) {
  return HookScheduler::start(own_loopback(), HookFrontend(hooks), workers, false, {}, options);
}

inline std::uint64_t sum(const HookScheduler& server, std::uint64_t WorkerSnapshot::* field) {
  std::uint64_t total = 0;
  for (const WorkerSnapshot& one : server.stats()) total += one.*field;
  return total;
}
inline std::uint64_t sum(const HookScheduler& server, CloseReason reason) {
  std::uint64_t total = 0;
  for (const WorkerSnapshot& one : server.stats()) total += one.by_reason[static_cast<std::size_t>(reason)];
  return total;
}
inline std::vector<std::uint64_t> lives(const HookScheduler& server) {
  std::vector<std::uint64_t> all;
  for (const WorkerSnapshot& one : server.stats()) all.push_back(one.live);
  return all;
}
// Every worker has begun and sleeps: only a wake or an event gets it going.
inline bool await_idle(const HookScheduler& server) {
  return wait_until([&] {
    for (const WorkerSnapshot& one : server.stats()) {
      if (!one.crashed && (one.ticks == 0 || !one.sleeping)) return false;
    }
    return true;
  });
}
inline bool await_no_connection(const HookScheduler& server) {
  return wait_until([&] { return sum(server, &WorkerSnapshot::live) + sum(server, &WorkerSnapshot::queued) == 0; });
}

// One worker with one place: a client holds it, and another one waits for it.
struct FullWorker {
  explicit FullWorker(Hooks& hooks)
      : server(Scheduler<OpenFrontend>::start(own_loopback(), OpenFrontend(hooks, insight), 1, false, {}, one_place())),
        holder(server.addresses().front()),
        held(holder.ask("x") == "x"),
        waiting(server.addresses().front()) {}

  static SchedulerOptions one_place() {
    SchedulerOptions options = uncapped(ListenerStrategy::kPerWorker);
    options.serving.max_connections = 1;
    return options;
  }
  const WorkerHandoffPool& pool() const { return insight.get()->pool; }

  Insight insight;  // outlives the server
  detail::SchedulerHandle server;
  LineClient holder;
  const bool held;
  const LineClient waiting;
};

struct Place {
  int served = -1;
  int accepted = -1;
};
inline Place who(LineClient& client) {
  const std::optional<std::string> text = client.ask("who");
  Place place;
  if (!text) return place;
  const std::size_t blank = text->find(' ');
  return {std::stoi(text->substr(0, blank)), std::stoi(text->substr(blank + 1))};
}
// A client that worker accepted; nothing when none of 400 tries got there.
inline std::optional<LineClient> client_of(const HookScheduler& server, int worker) {
  for (int i = 0; i < 400; ++i) {
    LineClient client(server.addresses().front());
    if (who(client).accepted == worker) return client;
  }
  return std::nullopt;
}

}  // namespace flare::testing
