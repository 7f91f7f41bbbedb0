// A worker that is stuck while it ends a connection: the connection is in one count, not in two.
#include <thread>

#include "harness.h"

namespace flare::testing {
namespace {

// A connection whose end takes as long as the gate says.
class SlowEnd : public LineConnection {
 public:
  SlowEnd(const LineHandler& handler, WorkerStats& stats, std::shared_ptr<Gate> gate)
      : LineConnection(handler, stats), gate_(std::move(gate)) {}
  ~SlowEnd() override { gate_->pass(); }

 private:
  std::shared_ptr<Gate> gate_;
};

class SlowEndFrontend {
 public:
  explicit SlowEndFrontend(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    class SlowProtocol : public Protocol {
     public:
      SlowProtocol(WorkerContext& context, std::shared_ptr<Gate> gate) : context_(context), gate_(std::move(gate)) {}
      std::unique_ptr<Connection> open() override {
        return std::make_unique<SlowEnd>(handler_, context_.stats(), gate_);
      }

     private:
      WorkerContext& context_;
      std::shared_ptr<Gate> gate_;
      LineHandler handler_ = [](const std::string& line, int) { return line; };
    };
    SlowProtocol protocol(context, gate_);
    context.serve(protocol);
  }

 private:
  std::shared_ptr<Gate> gate_;
};

// proves: C-DRAIN-06, C-REPORT-01, INV-15, INV-22
TEST(SchedulerStuckEnd, TheReportsAddUpWhenTheEndOfAConnectionBlocks) {
  for (const bool client_leaves : {true, false}) {
    const Ledger ledger;
    {
      const auto gate = std::make_shared<Gate>();
      const OpenAtExit open(gate);
      auto scheduler = start_any(SlowEndFrontend(gate), 1, with(ListenerStrategy::kPerWorker));
      LineClient client(scheduler.addresses().front());
      LineClient other(scheduler.addresses().front());
      EXPECT_EQ(client.ask("x"), "x");
      EXPECT_EQ(other.ask("x"), "x");
      EXPECT_TRUE(other.send("half"));
      if (client_leaves) {
        client.close();  // finished, while the worker serves
        ASSERT_TRUE(wait_until([&] { return gate->was_entered(); }));
      } else {
        EXPECT_TRUE(client.send("half"));  // cut, at the deadline
      }
      const auto reports = scheduler.drain(100);
      expect_sound(reports);
      EXPECT_EQ(total(reports).stuck, 1);
      EXPECT_EQ(total(reports).finished, client_leaves ? 1 : 0);
      EXPECT_EQ(total(reports).left, 1);
    }
    EXPECT_TRUE(ledger.is_as_before());
  }
}

}  // namespace
}  // namespace flare::testing
