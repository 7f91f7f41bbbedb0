// What a close with unread input costs: the part of the answer that still stands in the sender's buffer.
#include <gtest/gtest.h>

#include <atomic>

#include "flare/kernel/system_kernel.h"
#include "hook_frontend.h"

namespace flare::testing {
namespace {

// One byte of two is read and answered by as much as the socket takes; the client reads when the worker rests. An
// answer that the client's kernel holds already would survive a reset, and behind a FIN nothing would tell of it.
// proves: C-SERVE-07, INV-21
TEST(Linger, BytesThatNobodyReadCostNothingOfAnAnswerThatIsStillBeingSent) {
  Hooks hooks;
  std::atomic<std::size_t> sent{0};
  hooks.on_ready = [&](const Wire& w, Readiness) {
    char first;
    static_cast<void>(SystemKernel::recv(w.fd, &first, 1));
    const std::string part(64 << 10, 'a');
    std::size_t total = 0;
    while (total < (32U << 20)) {
      const Result<std::size_t> took = SystemKernel::send(w.fd, part.data(), part.size());
      if (!took.ok()) break;
      total += took.value();
    }
    sent = total;
    return Step::linger(CloseReason::kAnswered);
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient client(server.addresses().front());
  ASSERT_TRUE(client.send("mm"));
  ASSERT_TRUE(wait_until([&] { return sent > 0; }));
  ASSERT_TRUE(await_idle(server));
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  EXPECT_EQ(client.rest().size(), sent);
}

}  // namespace
}  // namespace flare::testing
