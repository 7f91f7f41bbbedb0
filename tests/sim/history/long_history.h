// long_history.h: a history of any length, of real threads, and parts of it as short ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "history/history.h"
#include "history/operation.h"

namespace flare::sim {

struct LongHistory {
  std::vector<Operation> operations;
  std::vector<std::int64_t> values;  // of the lists

  std::span<const std::int64_t> list_of(const Operation& of) const {
    return std::span(values).subspan(of.list_at, of.list_size);
  }
};

// The operations of long_history that part names, at most History::kMost, written anew in the order of their events.
// Of equal times a call comes first: operations that touch overlap. numbers[i] is where part's i-th is in out.
void rewrite(const LongHistory& long_history, std::span<const std::size_t> part, History& out,
             std::vector<unsigned>& numbers);

// "thread 2, 17 to 20: push(7) -> accepted"
std::string line_of(const LongHistory& history, std::size_t operation);

}  // namespace flare::sim
