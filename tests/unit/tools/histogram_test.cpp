#include "storm/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

namespace flare::tools {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.quantile(0.99), 0U);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(Histogram, KeepsSmallValuesExactly) {
  Histogram histogram;
  for (std::uint64_t value = 0; value < 128; ++value) histogram.record(value);
  EXPECT_EQ(histogram.quantile(0.5), 63U);
  EXPECT_EQ(histogram.quantile(1), 127U);
  EXPECT_EQ(histogram.quantile(0.0001), 0U);
}

TEST(Histogram, TakesTheLargestValue) {
  Histogram histogram;
  histogram.record(~std::uint64_t{0});
  EXPECT_EQ(histogram.max(), ~std::uint64_t{0});
  EXPECT_EQ(histogram.quantile(1), ~std::uint64_t{0});
}

// Values of every magnitude, not only the small ones that a generator prefers.
rc::Gen<std::vector<std::uint64_t>> values() {
  const auto value = rc::gen::apply([](std::uint64_t bits, int shift) { return bits >> shift; },
                                    rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(0, 64));
  return rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint64_t>>(value));
}

// Every quantile is at most 1/128 above the value of the same rank in the sorted list, and never below it.
TEST(Histogram, AgreesWithASortedVector) {
  const bool held = rc::check([]() {
    std::vector<std::uint64_t> sorted = *values();
    Histogram histogram;
    for (const std::uint64_t value : sorted) histogram.record(value);
    std::sort(sorted.begin(), sorted.end());
    RC_ASSERT(histogram.count() == sorted.size());
    RC_ASSERT(histogram.max() == sorted.back());
    for (const double q : {0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(q * static_cast<double>(sorted.size()))));
      const std::uint64_t exact = sorted[std::min(rank, sorted.size()) - 1];
      const std::uint64_t got = histogram.quantile(q);
      RC_ASSERT(got >= exact);
      RC_ASSERT(got - exact <= exact / 128);
    }
  });
  EXPECT_TRUE(held);
}

TEST(Histogram, MergedEqualsRecordedTogether) {
  const bool held = rc::check([]() {
    const auto first = *values();
    const auto second = *values();
    Histogram a, b, both;
    for (const auto value : first) a.record(value), both.record(value);
    for (const auto value : second) b.record(value), both.record(value);
    a.merge(b);
    RC_ASSERT(a.count() == both.count());
    RC_ASSERT(a.max() == both.max());
    for (const double q : {0.1, 0.5, 0.99, 1.0}) RC_ASSERT(a.quantile(q) == both.quantile(q));
  });
  EXPECT_TRUE(held);
}

TEST(Histogram, CountsWhatIsBelowAPowerOfTwoExactly) {
  const bool held = rc::check([]() {
    const auto list = *values();
    const std::uint64_t bound = std::uint64_t{1} << *rc::gen::inRange(0, 63);
    Histogram histogram;
    for (const auto value : list) histogram.record(value);
    const auto expected = std::count_if(list.begin(), list.end(), [bound](std::uint64_t v) { return v < bound; });
    RC_ASSERT(histogram.count_below(bound) == static_cast<std::uint64_t>(expected));
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace flare::tools
