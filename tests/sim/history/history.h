// history.h: a short history, written down in the order of its events.
// Threads:  one at a time.
// Bounds:   kMost operations; one more throws std::length_error. clear() keeps the memory.
// Not here: who is right (exact.h), histories of real threads (long_history.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "history/operation.h"

namespace flare::sim {

class History {
 public:
  static constexpr unsigned kMost = 64;

  void clear();

  // The operation begins now. Returns its number: 0, 1, ... in the order of the calls.
  unsigned call(unsigned thread, OpKind kind, std::int64_t value = 0);
  // It ends now, with this result. value: of pop and size.
  void returned(unsigned number, Outcome outcome, std::int64_t value = 0);
  // The end of a drain or a close, with what it took, oldest first.
  void returned(unsigned number, std::span<const std::int64_t> list);

  unsigned size() const { return size_; }
  const Operation& operator[](unsigned number) const { return operations_[number]; }
  std::span<const std::int64_t> list_of(const Operation& of) const {
    return std::span(values_).subspan(of.list_at, of.list_size);
  }
  // Sets of operations, a bit for each.
  std::uint64_t all() const { return size_ == kMost ? ~std::uint64_t{0} : (std::uint64_t{1} << size_) - 1; }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t before(unsigned number) const { return before_[number]; }  // those that ended before it began

 private:
  void end(unsigned number, Outcome outcome);

  std::array<Operation, kMost> operations_{};
  std::array<std::uint64_t, kMost> before_{};
  std::vector<std::int64_t> values_;
  std::uint64_t completed_ = 0;
  std::uint64_t now_ = 0;
  unsigned size_ = 0;
};

// "push(7) -> accepted"
std::string text_of(const Operation& operation, std::span<const std::int64_t> list);
// One line per operation, in the order of the calls.
std::string table_of(const History& history);

}  // namespace flare::sim
