// The error of a reset is told once. Here no call but the one that the test looks at can take it away.
#include <gtest/gtest.h>

#include "flare/kernel/system_kernel.h"
#include "hook_frontend.h"

namespace flare::testing {
namespace {

// One byte is read and answered; the rest of what was sent in the same call stands unread when the connection closes.
// proves: C-SERVE-07, INV-21
TEST(Linger, BytesThatNobodyReadDoNotTurnTheAnswerIntoAReset) {
  Hooks hooks;
  const std::string answer(16 << 10, 'a');
  hooks.on_ready = [&](const Wire& w, Readiness) {
    char first;
    static_cast<void>(SystemKernel::recv(w.fd, &first, 1));
    static_cast<void>(SystemKernel::send(w.fd, answer.data(), answer.size()));
    return Step::linger(CloseReason::kAnswered);
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  for (const std::size_t size : {std::size_t{2}, std::size_t{64} << 10}) {
    LineClient client(server.addresses().front());
    EXPECT_TRUE(client.send(std::string(size, 'm'))) << size;
    EXPECT_EQ(client.await_end(), StreamEnd::kEof) << size;
    EXPECT_EQ(client.rest(), answer) << size;
  }
}

}  // namespace
}  // namespace flare::testing
