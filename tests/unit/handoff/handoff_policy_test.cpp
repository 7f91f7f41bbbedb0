#include "flare/handoff/handoff_policy.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>

#include "flare/base/network_error.h"

namespace flare::testing {
namespace {

constexpr const char* kSwitch = "FLARE_SOAK_WORKERS";

// Sets the variable, or removes it, for one scope.
class Variable {
 public:
  explicit Variable(const char* value) {
    if (const char* before = std::getenv(kSwitch)) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  static void set(const char* value) {
    if (value == nullptr) {
      ::unsetenv(kSwitch);
    } else {
      ::setenv(kSwitch, value, 1);
    }
  }
  std::optional<std::string> before_;
};

// proves: C-POLICY-01
TEST(HandoffPolicy, IsOffWithCapacity64AndThreshold4ByDefault) {
  const HandoffPolicy policy;
  EXPECT_FALSE(policy.enabled);
  EXPECT_EQ(64, policy.capacity);
  EXPECT_EQ(4, policy.steal_threshold);
}

TEST(HandoffPolicy, KeepsWhatItIsGivenAndRefusesANegativeCapacity) {
  const HandoffPolicy policy(true, 0, -3);
  EXPECT_TRUE(policy.enabled);
  EXPECT_EQ(0, policy.capacity);
  EXPECT_EQ(-3, policy.steal_threshold);
  try {
    const HandoffPolicy refused(true, -7, 1);
    FAIL() << "a negative capacity was accepted";
  } catch (const NetworkError& error) {
    EXPECT_EQ(EINVAL, error.code().value());
    EXPECT_NE(std::string::npos, std::string(error.what()).find("-7")) << error.what();
  }
}

// proves: C-POLICY-02
TEST(HandoffPolicy, OnlyOnOneAndTrueEnableAndLowerTheThreshold) {
  for (const char* value : {"on", "1", "true"}) {
    const Variable variable(value);
    std::string report;
    const HandoffPolicy policy = HandoffPolicy::from_env(HandoffPolicy(false, 9, 5), &report);
    EXPECT_TRUE(policy.enabled) << value;
    EXPECT_EQ(1, policy.steal_threshold) << value;
    EXPECT_EQ(9, policy.capacity) << value;
    EXPECT_EQ("", report) << value;
  }
}

// proves: C-POLICY-02
TEST(HandoffPolicy, OffAndNothingLeaveThePolicyAsItIsSilently) {
  for (const char* value : {"off", "0", "false", "", static_cast<const char*>(nullptr)}) {
    const Variable variable(value);
    const std::string name = value == nullptr ? "(unset)" : value;
    for (const bool enabled : {false, true}) {
      std::string report;
      const HandoffPolicy policy = HandoffPolicy::from_env(HandoffPolicy(enabled, 9, 5), &report);
      EXPECT_EQ(enabled, policy.enabled) << name;
      EXPECT_EQ(5, policy.steal_threshold) << name;
      EXPECT_EQ(9, policy.capacity) << name;
      EXPECT_EQ("", report) << name;
    }
  }
}

// proves: C-POLICY-02
TEST(HandoffPolicy, AnyOtherValueChangesNothingAndIsReportedWithNameValueAndWhatWasExpected) {
  for (const char* value : {"ON", "yes", "2", " on", "on ", "enabled", "-1"}) {
    const Variable variable(value);
    std::string report;
    const HandoffPolicy policy = HandoffPolicy::from_env(HandoffPolicy(), &report);
    EXPECT_FALSE(policy.enabled) << value;
    EXPECT_EQ(4, policy.steal_threshold) << value;
    EXPECT_NE(std::string::npos, report.find(kSwitch)) << report;
    EXPECT_NE(std::string::npos, report.find('"' + std::string(value) + '"')) << report;
    EXPECT_NE(std::string::npos, report.find("expected on, 1 or true")) << report;
    EXPECT_FALSE(HandoffPolicy::from_env(HandoffPolicy()).enabled);  // without a report
  }
}

}  // namespace
}  // namespace flare::testing
