// kernel_contract, first part: pollers and wake descriptors.
#include <algorithm>
#include <set>

#include "kernel_world.h"

namespace flare::testing {
namespace {

template <class K>
class KernelReadiness : public KernelContract<K> {};
TYPED_TEST_SUITE(KernelReadiness, ContractKernels);

// proves: C-REACTOR-03
TYPED_TEST(KernelReadiness, IsLevelTriggeredUntilConsumed) {
  const UniqueFd poller = this->poller();
  const UniqueFd fd = this->ready_wake();
  ASSERT_TRUE(this->add(poller, fd, 7));
  for (int round = 0; round < 3; ++round) {
    const auto events = this->wait(poller);
    ASSERT_EQ(1U, events.size());
    EXPECT_EQ(7U, events[0].key);
    EXPECT_EQ(kReadable, events[0].bits);
  }
  EXPECT_TRUE(TypeParam::wake_clear(fd.get()).ok());
  EXPECT_TRUE(this->wait(poller).empty());
}

TYPED_TEST(KernelReadiness, KeysComeBackWholeFromALargeBatch) {
  constexpr std::size_t kCount = 200;
  const UniqueFd poller = this->poller();
  std::vector<UniqueFd> fds;
  std::set<std::uint64_t> expected;
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::uint64_t key = i * 0x9E3779B97F4A7C15U;
    expected.insert(key);
    fds.push_back(this->ready_wake());
    ASSERT_TRUE(this->add(poller, fds.back(), key, kReadable | kWritable));
  }
  const auto events = this->wait(poller, static_cast<int>(kCount));
  std::set<std::uint64_t> seen;
  for (const ReadyEvent& event : events) {
    seen.insert(event.key);
    EXPECT_EQ(kReadable | kWritable, event.bits);
  }
  EXPECT_EQ(kCount, events.size());
  EXPECT_EQ(expected, seen);
}

// field-bugs A11: nobody starves when more are ready than one wait may give.
TYPED_TEST(KernelReadiness, RotatesWhenMoreAreReadyThanAskedFor) {
  const UniqueFd poller = this->poller();
  std::vector<UniqueFd> fds;
  for (std::uint64_t key = 0; key < 12; ++key) {
    fds.push_back(this->ready_wake());
    ASSERT_TRUE(this->add(poller, fds.back(), key));
  }
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 3; ++round) {
    const auto events = this->wait(poller, 4);
    EXPECT_EQ(4U, events.size());
    for (const ReadyEvent& event : events) seen.insert(event.key);
  }
  EXPECT_EQ(12U, seen.size());
}

TYPED_TEST(KernelReadiness, RefusesWhatMakesNoSense) {
  const UniqueFd poller = this->poller();
  const UniqueFd fd = this->wake();
  EXPECT_EQ(ENOENT, TypeParam::poller_modify(poller.get(), fd.get(), 1, kReadable).error);
  EXPECT_EQ(ENOENT, TypeParam::poller_remove(poller.get(), fd.get()).error);
  ASSERT_TRUE(this->add(poller, fd, 1));
  EXPECT_EQ(EEXIST, TypeParam::poller_add(poller.get(), fd.get(), 2, kReadable, AddMode::kShared).error);
  EXPECT_EQ(EBADF, TypeParam::poller_add(poller.get(), -1, 2, kReadable, AddMode::kShared).error);
  EXPECT_EQ(EINVAL, TypeParam::poller_add(poller.get(), poller.get(), 2, kReadable, AddMode::kShared).error);
  ReadyEvent event;
  EXPECT_EQ(EINVAL, TypeParam::poller_wait(poller.get(), &event, 0, 0).error());
  EXPECT_EQ(EBADF, TypeParam::poller_wait(-1, &event, 1, 0).error());
}

TYPED_TEST(KernelReadiness, ModifyChangesInterestAndKey) {
  const UniqueFd poller = this->poller();
  const UniqueFd fd = this->ready_wake();
  ASSERT_TRUE(this->add(poller, fd, 1));
  ASSERT_TRUE(TypeParam::poller_modify(poller.get(), fd.get(), 2, kWritable).ok());
  const auto events = this->wait(poller);
  ASSERT_EQ(1U, events.size());
  EXPECT_EQ(2U, events[0].key);
  EXPECT_EQ(kWritable, events[0].bits);
  ASSERT_TRUE(TypeParam::poller_remove(poller.get(), fd.get()).ok());
  EXPECT_TRUE(this->wait(poller).empty());
}

// A poller holds the open file, not its number: that is why a Reactor must notice stale keys (decision 12).
TYPED_TEST(KernelReadiness, ADuplicateKeepsAClosedNumberInThePoller) {
  const UniqueFd poller = this->poller();
  UniqueFd fd = this->ready_wake();
  ASSERT_TRUE(this->add(poller, fd, 5));
  const UniqueFd duplicate(TestFixture::Outside::duplicate(fd.get()));
  const int number = fd.get();
  fd.reset();
  ASSERT_EQ(1U, this->wait(poller).size());
  EXPECT_EQ(EBADF, TypeParam::poller_remove(poller.get(), number).error);
  EXPECT_EQ(1U, this->wait(poller).size());
}

TYPED_TEST(KernelReadiness, TheLastCloseLeavesThePoller) {
  const UniqueFd poller = this->poller();
  UniqueFd fd = this->ready_wake();
  ASSERT_TRUE(this->add(poller, fd, 5));
  fd.reset();
  EXPECT_TRUE(this->wait(poller).empty());
}

TYPED_TEST(KernelReadiness, ANumberIsTheLowestFreeOne) {
  const UniqueFd first = this->wake();
  UniqueFd second = this->wake();
  const UniqueFd third = this->wake();
  EXPECT_LT(first.get(), second.get());
  EXPECT_LT(second.get(), third.get());
  const int number = second.get();
  second.reset();
  EXPECT_EQ(number, this->wake().get());
  EXPECT_EQ(number, this->poller().get());
}

// proves: INV-20
TYPED_TEST(KernelReadiness, WakesCoalesceAndClearMakesQuiet) {
  const UniqueFd poller = this->poller();
  const UniqueFd fd = this->wake();
  ASSERT_TRUE(this->add(poller, fd, 1));
  EXPECT_EQ(EAGAIN, TypeParam::wake_clear(fd.get()).error);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(TypeParam::wake_signal(fd.get()).ok());
  EXPECT_EQ(1U, this->wait(poller).size());
  EXPECT_TRUE(TypeParam::wake_clear(fd.get()).ok());
  EXPECT_TRUE(this->wait(poller).empty());
  ASSERT_TRUE(TypeParam::wake_signal(fd.get()).ok());
  EXPECT_EQ(1U, this->wait(poller).size());
}

// field-bugs B04
// proves: INV-20
TYPED_TEST(KernelReadiness, AFullWakeCounterNeverBlocksAndStaysSignalled) {
  const UniqueFd poller = this->poller();
  const UniqueFd fd = this->wake();
  ASSERT_TRUE(this->add(poller, fd, 1));
  TestFixture::Outside::saturate(fd.get());
  EXPECT_EQ(EAGAIN, TypeParam::wake_signal(fd.get()).error);
  EXPECT_EQ(1U, this->wait(poller).size());
  EXPECT_TRUE(TypeParam::wake_clear(fd.get()).ok());
  EXPECT_TRUE(this->wait(poller).empty());
  EXPECT_TRUE(TypeParam::wake_signal(fd.get()).ok());
}

TYPED_TEST(KernelReadiness, WaitReadableSeesAWakeAndDoesNotConsumeIt) {
  const UniqueFd fd = this->wake();
  EXPECT_FALSE(TypeParam::wait_readable(fd.get(), 0).value());
  ASSERT_TRUE(TypeParam::wake_signal(fd.get()).ok());
  EXPECT_TRUE(TypeParam::wait_readable(fd.get(), -1).value());
  EXPECT_TRUE(TypeParam::wait_readable(fd.get(), 0).value());
}

TYPED_TEST(KernelReadiness, WhatItOpensIsCloseOnExec) {
  const UniqueFd poller = this->poller();
  const UniqueFd wake = this->wake();
  EXPECT_TRUE(TestFixture::Outside::close_on_exec(poller.get()));
  EXPECT_TRUE(TestFixture::Outside::close_on_exec(wake.get()));
  EXPECT_TRUE(TestFixture::Outside::nonblocking(wake.get()));
}

// The end of the peer's stream shows with read interest and not without it (field-bugs A07).
TYPED_TEST(KernelReadiness, AHalfClosedPeerShowsToReadersOnly) {
  const UniqueFd listening = this->listener();
  auto [client, server] = this->connection(listening);
  const UniqueFd poller = this->poller();
  ASSERT_TRUE(this->add(poller, server, 1));
  ASSERT_TRUE(TypeParam::shutdown_write(client.get()).ok());
  const auto events = this->wait(poller, 4, 5000);
  ASSERT_EQ(1U, events.size());
  EXPECT_EQ(kReadable | kReadHangup, events[0].bits);
  ASSERT_TRUE(TypeParam::poller_modify(poller.get(), server.get(), 1, kWritable).ok());
  const auto writable = this->wait(poller);
  ASSERT_EQ(1U, writable.size());
  EXPECT_EQ(kWritable, writable[0].bits);
}

}  // namespace
}  // namespace flare::testing
