// serve() that ends by an error: what it held is with its peers before its caller hears of it, who may take his time.
#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

#include "flare/base/network_error.h"
#include "flare/worker/loop_token.h"
#include "flare/worker/worker_context.h"
#include "support/fault_injection.h"
#include "support/line_client.h"
#include "support/line_protocol.h"
#include "support/own_loopback.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

// proves: C-CRASH-02, C-SERVE-04
TEST(ServeEnd, ByAnErrorComesAfterItsBacklogAndItsQueueWentToAPeer) {
  const faults::Scope scope;
  const auto shared = share<WorkerShared>(HandoffPolicy(true, 4, 1), 2, ServingOptions{});
  for (Shared<Listener>& own : bind_reuseport(own_loopback(), 2, ListenerOptions{})) {
    shared->listeners.push_back({std::move(own)});
    shared->wakers.push_back(share<Waker>());
    shared->stats.push_back(share<WorkerStats>());
  }
  const Shared<Listener> first = shared->listeners[0].front();
  ASSERT_TRUE(shared->listeners[1].front()->disable());  // so that the client comes to worker 0
  LineClient client(first->address());
  ASSERT_TRUE(wait_until([&] { return shared->waiting_clients(0) == 1; }));

  const LineHandler handler = [](const std::string& line, int) { return line; };
  WorkerContext context(shared, 0);
  LineProtocol protocol(handler, context.stats());
  faults::fail_on_this_thread(faults::Symbol::kEpollWait, EBADF);
  EXPECT_THROW(context.serve(protocol), NetworkError);

  EXPECT_TRUE(shared->pool.queue(0).is_closed());
  EXPECT_TRUE(first->is_disabled());
  EXPECT_EQ(shared->pool.queue(1).size(), 1U);
  for (const std::int64_t token : shared->pool.close_and_drain(1)) UniqueFd(HandoffToken::unpack(token).fd).reset();
}

}  // namespace
}  // namespace flare::testing
