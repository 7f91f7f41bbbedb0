#include "flare/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "support/fault_injection.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

int open_null() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(UniqueFd, ClosesOnceAtTheEndOfItsScope) {
  const int before = open_descriptors();
  int number = -1;
  {
    UniqueFd fd(open_null());
    number = fd.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  EXPECT_EQ(before, open_descriptors());
}

TEST(UniqueFd, MoveHandsTheDescriptorOn) {
  UniqueFd first(open_null());
  const int number = first.get();
  UniqueFd second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(number, second.get());
  UniqueFd third(open_null());
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_EQ(number, third.get());
  UniqueFd& same = third;
  third = std::move(same);
  EXPECT_TRUE(is_open(number));
}

TEST(UniqueFd, ReleaseLeavesTheDescriptorOpen) {
  UniqueFd fd(open_null());
  const int number = fd.release();
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(is_open(number));
  close_fd(number);
}

TEST(UniqueFd, FdZeroIsAnOrdinaryDescriptor) {
  const int saved = ::dup(0);
  {
    ::close(0);
    UniqueFd fd(open_null());
    ASSERT_EQ(0, fd.get());
    EXPECT_TRUE(fd.valid());
  }
  EXPECT_FALSE(is_open(0));
  if (saved >= 0) {
    ::dup2(saved, 0);
    ::close(saved);
  }
}

// field-bugs E07: the number is free after EINTR; a second close would hit a stranger.
TEST(UniqueFd, AnInterruptedCloseIsNotRepeated) {
  faults::Scope scope;
  const int number = open_null();
  faults::fail(faults::Symbol::kClose, 1, EINTR, faults::kForEver);
  close_fd(number);
  EXPECT_EQ(1, faults::calls(faults::Symbol::kClose));
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, NoDescriptorIsNotClosed) {
  faults::Scope scope;
  close_fd(-1);
  {
    UniqueFd none;
  }
  EXPECT_EQ(0, faults::calls(faults::Symbol::kClose));
}

TEST(UniqueFdDeathTest, ClosingTwiceAborts) {
  const int number = open_null();
  close_fd(number);
  EXPECT_DEATH(close_fd(number), "closed twice");
}

}  // namespace
}  // namespace flare::testing
