// histogram.h: counts of values, log-linear: every value is kept to within 1 part in 128.
// Bounds: fixed memory (59 KiB); values above 2^63 - 1 do not exist (the type's limit is the range's).
#pragma once

#include <cstdint>
#include <vector>

namespace flare::tools {

class Histogram {
 public:
  Histogram();
  void record(std::uint64_t value);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }  // exact
  double mean() const;
  // The value at the quantile, 0 < q <= 1: the value of rank ceil(q * count), as the highest value of its cell and
  // never above max(). 0 when nothing was recorded.
  std::uint64_t quantile(double q) const;
  // Values below bound; those that share bound's cell, within 1 part in 128, count as not below.
  std::uint64_t count_below(std::uint64_t bound) const;

 private:
  static constexpr int kBits = 7;  // 128 cells for each power of two
  static std::size_t cell_of(std::uint64_t value);
  static std::uint64_t highest_of(std::size_t cell);

  std::vector<std::uint64_t> cells_;
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace flare::tools
