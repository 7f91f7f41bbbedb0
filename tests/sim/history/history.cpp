#include "history/history.h"

#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace flare::sim {

void History::clear() {
  values_.clear();
  completed_ = 0;
  now_ = 0;
  size_ = 0;
}

unsigned History::call(unsigned thread, OpKind kind, std::int64_t value) {
  if (size_ == kMost) throw std::length_error("a history of more than 64 operations");
  Operation& begun = operations_[size_];
  begun = Operation{};
  begun.kind = kind;
  begun.thread = static_cast<std::uint16_t>(thread);
  begun.value = value;
  begun.call = now_++;
  before_[size_] = completed_;
  return size_++;
}

void History::returned(unsigned number, Outcome outcome, std::int64_t value) {
  if (operations_[number].kind != OpKind::kPush) operations_[number].value = value;
  end(number, outcome);
}

void History::returned(unsigned number, std::span<const std::int64_t> list) {
  operations_[number].list_at = values_.size();
  operations_[number].list_size = static_cast<std::uint32_t>(list.size());
  values_.insert(values_.end(), list.begin(), list.end());
  end(number, Outcome::kOk);
}

void History::end(unsigned number, Outcome outcome) {
  operations_[number].outcome = outcome;
  operations_[number].ret = now_++;
  completed_ |= std::uint64_t{1} << number;
}

namespace {

std::string list_text(std::span<const std::int64_t> list) {
  std::string text = "[";
  for (const std::int64_t value : list) text += (text.size() > 1 ? " " : "") + std::to_string(value);
  return text + "]";
}

std::string call_text(const Operation& operation) {
  switch (operation.kind) {
    case OpKind::kPush:
      return "push(" + std::to_string(operation.value) + ")";
    case OpKind::kPop:
      return "pop()";
    case OpKind::kDrain:
      return "drain()";
    case OpKind::kClose:
      return "close_and_drain()";
    case OpKind::kSize:
      return "size()";
  }
  return "?";
}

std::string result_text(const Operation& operation, std::span<const std::int64_t> list) {
  switch (operation.outcome) {
    case Outcome::kPending:
      return "(never returned)";
    case Outcome::kEmpty:
      return "empty";
    case Outcome::kRefusedFull:
      return "refused: full";
    case Outcome::kRefusedClosed:
      return "refused: closed";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kOk:
      break;
  }
  if (operation.kind == OpKind::kPush) return "accepted";
  if (operation.kind == OpKind::kDrain || operation.kind == OpKind::kClose) return list_text(list);
  return std::to_string(operation.value);
}

}  // namespace

std::string text_of(const Operation& operation, std::span<const std::int64_t> list) {
  return call_text(operation) + " -> " + result_text(operation, list);
}

std::string table_of(const History& history) {
  std::ostringstream out;
  out << " op thread  call   end  what\n";
  for (unsigned i = 0; i < history.size(); ++i) {
    const Operation& each = history[i];
    out << std::setw(3) << i << std::setw(7) << each.thread << std::setw(6) << each.call << std::setw(6)
        << (each.ret == kNever ? "-" : std::to_string(each.ret)) << "  " << text_of(each, history.list_of(each))
        << "\n";
  }
  return out.str();
}

}  // namespace flare::sim
