// Closing after an answer: FIN, read and discard within bounds, close. No unread input turns the answer into a reset.
#include <gtest/gtest.h>
#include <poll.h>

#include "flare/kernel/system_kernel.h"
#include "hook_frontend.h"

namespace flare::testing {
namespace {

constexpr std::size_t kAnswer = 48 << 10;

// Whatever comes first is answered by kAnswer bytes that say so are the last.
Hooks& answer_and_linger(Hooks& hooks) {
  hooks.on_ready = [](const Wire& w, Readiness) {
    char first;
    static_cast<void>(SystemKernel::recv(w.fd, &first, 1));
    const std::string answer(kAnswer, 'a');
    static_cast<void>(SystemKernel::send(w.fd, answer.data(), answer.size()));
    return Step::linger(CloseReason::kAnswered);
  };
  return hooks;
}

// proves: C-SERVE-07, INV-21
TEST(Linger, AClientThatGoesOnSendingReadsTheWholeAnswerThenTheEnd) {
  Hooks hooks;
  auto server = serve(answer_and_linger(hooks), 1, uncapped(ListenerStrategy::kPerWorker));
  for (int round = 0; round < 20; ++round) {
    LineClient client(server.addresses().front());
    // All of it is sent before the first byte of the answer is read. A reset would end the sending with an error; what
    // the sending swallows, the reading no longer sees.
    EXPECT_TRUE(client.send(std::string(2 << 20, 'm'))) << "round " << round;
    EXPECT_EQ(client.await_end(), StreamEnd::kEof) << "round " << round;
    EXPECT_EQ(client.rest().size(), kAnswer);
  }
  EXPECT_TRUE(await_no_connection(server));
  EXPECT_EQ(sum(server, CloseReason::kAnswered), 20U);
}

// The peer's time begins when the answer was made, however long that took.
// field-bugs A19
// proves: C-SERVE-07, INV-21
TEST(Linger, IsAsLongAfterALongHandler) {
  Hooks hooks;
  answer_and_linger(hooks);
  hooks.on_ready = [answer = hooks.on_ready](const Wire& w, Readiness ready) {
    const MonoTime over = w.now + limits::kLingerQuiet + std::chrono::milliseconds(50);
    wait_until([&] { return SystemKernel::now() > over; });
    return answer(w, ready);
  };
  auto server = serve(hooks, 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient client(server.addresses().front());
  EXPECT_TRUE(client.send(std::string(8 << 20, 'm')));
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  EXPECT_EQ(client.rest().size(), kAnswer);
}

// proves: C-SERVE-07
TEST(Linger, EndsWhenThePeerIsSilent) {
  Hooks hooks;
  auto server = serve(answer_and_linger(hooks), 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient client(server.addresses().front());
  ASSERT_TRUE(client.send("x"));
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  EXPECT_TRUE(await_no_connection(server));  // the client's own side is still open
  EXPECT_EQ(sum(server, CloseReason::kAnswered), 1U);
}

// proves: C-SERVE-07
TEST(Linger, EndsAfterItsBytesHoweverFastThePeerSends) {
  Hooks hooks;
  auto server = serve(answer_and_linger(hooks), 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient client(server.addresses().front());
  const std::string much(1 << 20, 'm');
  std::size_t sent = 0;
  while (sent < 8 * limits::kLingerBytes && client.send(much)) sent += much.size();
  EXPECT_GE(sent, limits::kLingerBytes);
  EXPECT_LT(sent, 8 * limits::kLingerBytes);
  EXPECT_TRUE(await_no_connection(server));
}

// A byte now and then is no silence; what ends it is the time.
// proves: C-SERVE-07
TEST(Linger, EndsAfterItsTimeHoweverLongThePeerTalks) {
  Hooks hooks;
  auto server = serve(answer_and_linger(hooks), 1, uncapped(ListenerStrategy::kPerWorker));
  LineClient client(server.addresses().front());
  ASSERT_TRUE(client.send("x"));
  EXPECT_EQ(client.await_end(), StreamEnd::kEof);
  int sent = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (client.send("y") && ++sent < 300) {
    pollfd wanted{client.fd(), 0, 0};  // errors and hangups only: paced by the timeout
    if (::poll(&wanted, 1, 50) != 0) break;
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, limits::kLingerQuiet);
  EXPECT_LT(sent, 300) << "15 seconds, and it lingers still";
  EXPECT_TRUE(await_no_connection(server));
}

}  // namespace
}  // namespace flare::testing
