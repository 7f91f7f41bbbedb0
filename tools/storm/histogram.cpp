#include "storm/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace flare::tools {

// Values below 2^kBits have a cell each; above, each power of two is cut into 2^kBits cells.
Histogram::Histogram() : cells_(cell_of(~std::uint64_t{0}) + 1, 0) {}

std::size_t Histogram::cell_of(std::uint64_t value) {
  if (value < (std::uint64_t{1} << kBits)) return static_cast<std::size_t>(value);
  const int power = static_cast<int>(std::bit_width(value)) - 1;  // >= kBits
  const std::uint64_t within = (value >> (power - kBits)) - (std::uint64_t{1} << kBits);
  return ((static_cast<std::size_t>(power - kBits) + 1) << kBits) + static_cast<std::size_t>(within);
}

std::uint64_t Histogram::highest_of(std::size_t cell) {
  const std::size_t group = cell >> kBits;
  if (group == 0) return cell;
  const std::uint64_t within = (cell & ((std::size_t{1} << kBits) - 1)) + (std::uint64_t{1} << kBits);
  const int shift = static_cast<int>(group) - 1;
  return (within << shift) + ((std::uint64_t{1} << shift) - 1);
}

void Histogram::record(std::uint64_t value) {
  ++cells_[cell_of(value)];
  ++count_;
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] += other.cells_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

std::uint64_t Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(q * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(wanted < 1 ? 1 : static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    seen += cells_[i];
    if (seen >= rank) return std::min(highest_of(i), max_);
  }
  return max_;
}

std::uint64_t Histogram::count_below(std::uint64_t bound) const {
  const auto end = cells_.begin() + static_cast<std::ptrdiff_t>(cell_of(bound));
  return std::accumulate(cells_.begin(), end, std::uint64_t{0});
}

}  // namespace flare::tools
