#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <system_error>

#include "flare/base/assert.h"
#include "flare/base/network_error.h"
#include "flare/base/result.h"
#include "flare/base/sync.h"
#include "flare/base/thread_role.h"
#include "flare/base/time.h"

namespace flare::testing {
namespace {

TEST(NetworkError, NamesTheOperationTheValueAndTheErrno) {
  const NetworkError error(EADDRINUSE, "bind", "address 127.0.0.1:80");
  EXPECT_EQ("bind", error.operation());
  EXPECT_EQ(EADDRINUSE, error.code().value());
  EXPECT_TRUE(error.code() == std::errc::address_in_use);
  EXPECT_EQ("bind: address 127.0.0.1:80: " + std::generic_category().message(EADDRINUSE), error.what());
  EXPECT_EQ("bind: " + std::generic_category().message(EPERM), NetworkError(EPERM, "bind").what());
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good(7);
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(0, good.error());
  EXPECT_EQ(7, good.value());
  const auto bad = Result<int>::failure(EAGAIN);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(EAGAIN, bad.error());
  EXPECT_TRUE(Status{}.ok());
  EXPECT_FALSE(Status{EPERM}.ok());
}

TEST(Result, GivesAMoveOnlyValueAway) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(3, *taken);
}

TEST(ResultDeathTest, ReadingTheValueOfAFailureAborts) {
  const auto bad = Result<int>::failure(EAGAIN);
  EXPECT_DEATH(static_cast<void>(bad.value()), "value\\(\\) of a failed Result");
  EXPECT_DEATH(static_cast<void>(Result<int>::failure(0).ok()), "a failure needs an error number");
}

TEST(AssertDeathTest, PrintsFileLineConditionAndReason) {
  const int one = 1;
  EXPECT_DEATH(FLARE_ASSERT(one == 2, "numbers are broken"),
               "flare: .*values_test.cpp:[0-9]+: broken invariant: numbers are broken \\(one == 2\\)");
  FLARE_ASSERT(one == 1, "holds");
}

TEST(ThreadRole, IsHeldByTheThreadThatEnteredIt) {
  WorkerRole role;
  role.enter();
  role.assert_current();
  role.leave();
}

TEST(ThreadRoleDeathTest, AnotherThreadOrNoneAborts) {
  EXPECT_DEATH(
      {
        WorkerRole role;
        role.assert_current();
      },
      "without the worker's role");
  EXPECT_DEATH(
      {
        WorkerRole role;
        role.enter();
        auto other = Thread::start([&role] { role.assert_current(); });
        std::move(other).value().join();
        role.leave();
      },
      "without the worker's role");
}

// INV-19: a time is rounded down, a deadline up, and nothing wraps.
TEST(Time, RoundsTimesDownAndDeadlinesUp) {
  EXPECT_EQ(1U, floor_ms(MonoTime(Duration(1'999'999))));
  EXPECT_EQ(2U, ceil_ms(MonoTime(Duration(1'000'001))));
  EXPECT_EQ(0U, ceil_ms(MonoTime(Duration(-5))));
  EXPECT_EQ(kNever, saturating_add(MonoTime(Duration(1)), Duration::max()));
  EXPECT_EQ(kNever, saturating_add(kNever, Duration(0)));
  EXPECT_TRUE(rc::check("floor <= time <= ceil, within one millisecond", [] {
    const auto ns = *rc::gen::inRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max());
    const auto low = floor_ms(MonoTime(Duration(ns)));
    const auto high = ceil_ms(MonoTime(Duration(ns)));
    RC_ASSERT(low * 1'000'000U <= static_cast<std::uint64_t>(ns));
    RC_ASSERT(high * 1'000'000U >= static_cast<std::uint64_t>(ns));
    RC_ASSERT(high - low <= 1U);
  }));
}

TEST(Shared, IsHeldJointly) {
  Shared<int> first = share<int>(5);
  const Shared<int> second = first;
  first.reset();
  EXPECT_EQ(5, *second);
}

}  // namespace
}  // namespace flare::testing
