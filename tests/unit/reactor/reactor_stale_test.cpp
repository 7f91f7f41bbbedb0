// Descriptors that were closed before they were unregistered.
#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "flare/net/listener.h"
#include "reactor_fixture.h"

namespace flare::testing {
namespace {

using faults::Symbol;

// A socket that is registered, closed, forgotten, and kept alive by a dup: it fires without a registration.
struct Ghost {
  SocketPair pair;
  UniqueFd duplicate;

  explicit Ghost(Reactor& reactor, std::uint64_t token) {
    reactor.register_fd(pair.a.get(), token, INTEREST_READ);
    duplicate.reset(::fcntl(pair.a.get(), F_DUPFD_CLOEXEC, 0));
    pair.feed_a();
    const int number = pair.a.get();
    pair.a.reset();
    EXPECT_THROW(reactor.unregister(number), NetworkError);
    EXPECT_FALSE(reactor.is_registered(number));
  }
};

// field-bugs A05, A06
// proves: C-REACTOR-06
TEST_F(ReactorTest, UnregisterAfterCloseThrowsAndForgets) {
  SocketPair pair;
  const int number = pair.a.get();
  reactor.register_fd(number, 1, INTEREST_READ);
  pair.a.reset();
  EXPECT_EQ(EBADF, error_of([&] { reactor.modify(number, INTEREST_WRITE); }));
  std::string what;
  EXPECT_EQ(EBADF, error_of([&] { reactor.unregister(number); }, &what));
  EXPECT_NE(std::string::npos, what.find("closed before it was unregistered")) << what;
  EXPECT_EQ(0, reactor.registered_count());
  SocketPair next;
  ASSERT_EQ(number, next.a.get());
  reactor.register_fd(number, 2, INTEREST_READ);
  next.feed_a();
  ASSERT_EQ(1, poll());
  EXPECT_EQ(2U, events[0].token());
}

// field-bugs A05: the abuse. A clean error, and never an event under the old token.
// proves: C-REACTOR-01
TEST_F(ReactorTest, AReusedNumberWhoseOldRegistrationStandsIsRefused) {
  SocketPair pair;
  const int number = pair.a.get();
  reactor.register_fd(number, 1, INTEREST_READ);
  pair.a.reset();
  SocketPair next;
  ASSERT_EQ(number, next.a.get());
  EXPECT_EQ(EEXIST, error_of([&] { reactor.register_fd(number, 2, INTEREST_READ); }));
  next.feed_a();
  EXPECT_EQ(0, poll());
  EXPECT_EQ(ENOENT, error_of([&] { reactor.unregister(number); }));
  reactor.register_fd(number, 2, INTEREST_READ);
  EXPECT_EQ(1, poll());
}

// proves: C-REACTOR-11, INV-10
TEST_F(ReactorTest, AStaleRegistrationIsDroppedAndGoneAfterItFiredTwice) {
  SocketPair live;
  reactor.register_fd(live.a.get(), 2, INTEREST_READ);
  const Ghost ghost(reactor, 1);
  const int descriptors = open_descriptors();
  const long before = faults::calls(Symbol::kEpollCreate1);
  EXPECT_EQ(0, poll(-1));  // it ends the poll at once, and reaches nobody
  EXPECT_EQ(before, faults::calls(Symbol::kEpollCreate1));
  EXPECT_EQ(0, poll(-1));
  EXPECT_EQ(before + 1, faults::calls(Symbol::kEpollCreate1));
  EXPECT_EQ(descriptors, open_descriptors());
  // From now on it is silent: the poll waits until something happens to the living.
  live.feed_a();
  reactor.wakeup();
  ASSERT_EQ(2, poll(-1));
  EXPECT_EQ((std::set<std::uint64_t>{2, WAKEUP_TOKEN}), tokens());
  for (const Event& event : events) EXPECT_TRUE(reactor.is_current(event, INTEREST_READ));
  reactor.modify(live.a.get(), INTEREST_WRITE);
  EXPECT_EQ(1, poll());
  reactor.unregister(live.a.get());
  EXPECT_EQ(0, poll());
  EXPECT_EQ(before + 1, faults::calls(Symbol::kEpollCreate1));
}

// proves: C-REACTOR-11
TEST_F(ReactorTest, ManyStaleRegistrationsNeedFewRebuilds) {
  std::vector<std::unique_ptr<Ghost>> ghosts;
  for (std::uint64_t i = 0; i < 30; ++i) ghosts.push_back(std::make_unique<Ghost>(reactor, i));
  const long before = faults::calls(Symbol::kEpollCreate1);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(0, poll(0, 1));  // one at a time, in rotation
  EXPECT_EQ(before + 1, faults::calls(Symbol::kEpollCreate1));
  EXPECT_EQ(0, poll());
}

// proves: C-REACTOR-11
TEST_F(ReactorTest, ARebuildThatFailsChangesNothingAndIsTriedAgain) {
  SocketPair live;
  reactor.register_fd(live.a.get(), 2, INTEREST_READ);
  const Ghost ghost(reactor, 1);
  live.feed_a();
  const int descriptors = open_descriptors();
  EXPECT_EQ(1, poll());
  for (const auto& [symbol, nth] : {std::pair{Symbol::kEpollCreate1, 1L},
                                    {Symbol::kEpollCtl, 1L},
                                    {Symbol::kEpollCtl, 2L},
                                    {Symbol::kEpollCtl, 3L}}) {
    faults::fail(symbol, nth, ENOMEM);
    ASSERT_EQ(1, poll());
    EXPECT_EQ(2U, events[0].token());
    EXPECT_EQ(descriptors, open_descriptors());
  }
  faults::reset();
  EXPECT_EQ(1, poll());
  EXPECT_EQ(1, faults::calls(Symbol::kEpollCreate1));
  EXPECT_EQ(1, poll());
  EXPECT_EQ(1, faults::calls(Symbol::kEpollCreate1));
}

// A registration whose descriptor was closed first, and whose number is another's by the time of a rebuild: the rebuild
// watched the number, so the newcomer's events came under the old token. Found by fuzz_reactor_dispatch.
// proves: C-REACTOR-01, C-REACTOR-11, INV-10
TEST_F(ReactorTest, ARebuildGivesNobodyTheEventsOfANumbersNextOwner) {
  SocketPair live;
  SocketPair closed;
  const int number = closed.a.get();
  reactor.register_fd(live.a.get(), 2, INTEREST_READ);
  reactor.register_fd(number, 3, INTEREST_READ);
  closed.a.reset();
  SocketPair next;
  ASSERT_EQ(number, next.a.get());
  next.feed_a();
  const Ghost ghost(reactor, 1);
  const long before = faults::calls(Symbol::kEpollCreate1);
  EXPECT_EQ(0, poll());
  EXPECT_EQ(0, poll());
  ASSERT_EQ(before + 1, faults::calls(Symbol::kEpollCreate1));
  live.feed_a();
  EXPECT_EQ(1, poll());
  EXPECT_EQ(std::set<std::uint64_t>{2}, tokens());
  EXPECT_EQ(ENOENT, error_of([&] { reactor.unregister(number); }));
}

// The same when the next owner of the number is the Reactor's own new set: it could not be built, and so the stale
// registration ended every poll; nor could the caller unregister the number.
// proves: C-REACTOR-06, C-REACTOR-11
TEST_F(ReactorTest, ARebuildMayGetTheNumberOfAClosedRegistration) {
  SocketPair closed;
  const int number = closed.a.get();
  reactor.register_fd(number, 3, INTEREST_READ);
  const Ghost ghost(reactor, 1);
  closed.a.reset();
  const long before = faults::calls(Symbol::kEpollCreate1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(0, poll());
  EXPECT_EQ(before + 1, faults::calls(Symbol::kEpollCreate1));
  EXPECT_TRUE(reactor.is_registered(number));
  std::string what;
  EXPECT_EQ(EINVAL, error_of([&] { reactor.unregister(number); }, &what));
  EXPECT_NE(std::string::npos, what.find("closed before it was unregistered")) << what;
  EXPECT_FALSE(reactor.is_registered(number));
}

// What is registered exclusively stays so: a modify of it is still refused by the system.
// proves: C-REACTOR-04, C-REACTOR-11
TEST_F(ReactorTest, ARebuildKeepsExclusiveRegistrationsExclusive) {
  const auto listener = bind_shared(own_loopback(), ListenerOptions());
  reactor.register_exclusive(listener->fd(), 7, INTEREST_READ);
  const Ghost ghost(reactor, 1);
  EXPECT_EQ(0, poll(-1));
  EXPECT_EQ(0, poll(-1));
  const auto client = connect_to(listener->address()).first;
  ASSERT_EQ(1, poll(5000));
  EXPECT_EQ(7U, events[0].token());
  EXPECT_TRUE(faults::calls(Symbol::kEpollCreate1) == 2);
  std::string info;
  // The poller's own view: "events:" of the listener with EPOLLEXCLUSIVE (1 << 28) and without EPOLLRDHUP (0x2000).
  for (int fd = 0; fd < 256; ++fd) {
    FILE* file = std::fopen(("/proc/self/fdinfo/" + std::to_string(fd)).c_str(), "r");
    if (file == nullptr) continue;
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr) {
      int target = -1;
      unsigned bits = 0;
      if (std::sscanf(line, "tfd: %d events: %x", &target, &bits) == 2 && target == listener->fd()) {
        EXPECT_EQ(1U << 28U, bits & (1U << 28U));
        EXPECT_EQ(0U, bits & 0x2000U);
        info = line;
      }
    }
    std::fclose(file);
  }
  EXPECT_FALSE(info.empty());
}

}  // namespace
}  // namespace flare::testing
