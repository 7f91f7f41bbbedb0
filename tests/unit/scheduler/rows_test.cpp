// The rows of listeners: whoever reads another worker's row keeps it from being cleared meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "flare/scheduler/worker_group.h"
#include "support/own_loopback.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

class Rows : public ::testing::Test {
 protected:
  Rows() {
    shared_->listeners.resize(1);
    shared_->listeners[0] = bind_reuseport(own_loopback(), 1, ListenerOptions{});
  }
  // Whether act waits for a reader of the rows, and is done once there is none.
  template <class Act>
  ::testing::AssertionResult waits_for_a_reader(Act act) {
    std::atomic<bool> done{false};
    shared_->rows_mutex.lock();
    std::thread control([&] {
      act();
      done = true;
    });
    const bool too_early = wait_until([&] { return done.load(); }, std::chrono::milliseconds(50));
    shared_->rows_mutex.unlock();
    control.join();
    return too_early ? ::testing::AssertionFailure() << "it did not wait" : ::testing::AssertionSuccess();
  }

  const Shared<WorkerShared> shared_ = share<WorkerShared>(HandoffPolicy(true, 4, 1), 1, ServingOptions{});
  WorkerGroup group_{shared_};
};

// proves: C-STOP-07, INV-11
TEST_F(Rows, AreNotClearedUnderAReader) {
  EXPECT_TRUE(waits_for_a_reader([&] { group_.release_listeners(0); }));
  EXPECT_TRUE(shared_->listeners[0].empty());
}

// proves: C-STOP-07, INV-11
TEST_F(Rows, AreNotWalkedWhileTheyAreCleared) {
  const Shared<Listener> own = shared_->listeners[0].front();
  EXPECT_TRUE(waits_for_a_reader([&] { group_.disable_listeners(0); }));
  EXPECT_TRUE(own->is_disabled());
}

}  // namespace
}  // namespace flare::testing
