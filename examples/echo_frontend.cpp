// echo_frontend.cpp: a protocol of its own on the same Scheduler: what comes in goes out. It gets the handoff, the
// drain and the deadlines of the runtime without a change there. It prints its address; SIGTERM drains it, and one line
// per worker then says how many connections it served.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>

#include "flare/kernel/system_kernel.h"
#include "flare/reactor/event.h"
#include "flare/scheduler/scheduler.h"

namespace {

using flare::CloseReason;
using flare::INTEREST_READ;
using flare::INTEREST_WRITE;
using flare::Readiness;
using flare::Step;
using flare::SystemKernel;
using flare::Wire;

constexpr std::chrono::seconds kQuiet{60};  // without a byte in either direction

class EchoConnection final : public flare::Connection {
 public:
  Step on_open(const Wire& wire) override { return wait(wire); }
  Step on_turn(const Wire& wire) override { return wait(wire); }
  Step on_ready(const Wire& wire, Readiness /*ready*/) override { return unsent_.empty() ? receive(wire) : send(wire); }
  Step on_deadline(const Wire&) override { return Step::linger(CloseReason::kDeadline); }
  bool unanswered() const override { return !unsent_.empty(); }

  // What was read is sent, then the connection ends; a quiet one echoes once more within the grace.
  Step on_drain(const Wire& wire) override {
    last_ = true;
    return wait(wire);
  }
  Step on_grace_over(const Wire& wire) override {
    if (unanswered()) return wait(wire);
    const Step step = receive(wire);
    const bool quiet = step.kind == Step::Kind::kKeep && !unanswered();
    return quiet ? Step::linger(CloseReason::kIdleDrained) : step;
  }

 private:
  // While something is unsent nothing is read: a client that does not read is not read from either.
  Step wait(const Wire& wire) const {
    return Step::keep(unsent_.empty() ? INTEREST_READ : INTEREST_WRITE, flare::saturating_add(wire.now, kQuiet));
  }

  Step receive(const Wire& wire) {
    const auto got = SystemKernel::recv(wire.fd, wire.scratch, wire.scratch_size);
    if (!got.ok()) return retry(got.error()) ? wait(wire) : Step::close(CloseReason::kPeerGone);
    if (got.value() == 0) return Step::close(CloseReason::kPeerGone);
    unsent_.assign(wire.scratch, got.value());
    return send(wire);
  }

  Step send(const Wire& wire) {
    const auto sent = SystemKernel::send(wire.fd, unsent_.data(), unsent_.size());
    if (!sent.ok()) return retry(sent.error()) ? wait(wire) : Step::close(CloseReason::kPeerGone);
    unsent_.erase(0, sent.value());
    if (unsent_.empty() && last_) return Step::linger(CloseReason::kAnswered);
    return wait(wire);
  }

  static bool retry(int error) { return error == EAGAIN || error == EINTR; }

  std::string unsent_;
  bool last_ = false;
};

class EchoProtocol final : public flare::Protocol {
 public:
  std::unique_ptr<flare::Connection> open() override { return std::make_unique<EchoConnection>(); }
};

struct EchoFrontend {
  bool requires_per_worker_listener() const { return false; }
  void run_worker(flare::WorkerContext& context) {
    EchoProtocol protocol;
    context.serve(protocol);
  }
};

flare::detail::SchedulerHandle* running = nullptr;

}  // namespace

int main() {
  auto scheduler = flare::Scheduler<EchoFrontend>::start(flare::SocketAddress::loopback_v4(0), EchoFrontend{}, 2);
  running = &scheduler;
  std::signal(SIGTERM, [](int) { running->request_stop(); });
  std::cout << scheduler.addresses().front().to_string() << std::endl;
  scheduler.wait();
  const auto reports = scheduler.drain(5000);
  for (const flare::ShutdownReport& report : reports) {
    std::cout << "worker " << report.worker << " served " << report.accepted + report.received - report.handed_out
              << " cut " << report.cut << "\n";
  }
  return flare::adds_up(reports) ? 0 : 1;
}
