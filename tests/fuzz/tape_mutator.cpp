// libFuzzer's mutations for tapes: whole operations are put in, taken out, doubled, moved, and changed one at a time.
#include <algorithm>
#include <array>
#include <vector>

#include "dice.h"
#include "tape.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace flare::fuzz {
namespace {

using Ops = std::vector<Op>;

Ops read_ops(const std::uint8_t* data, std::size_t size) {
  const Tape tape(data, size);
  Ops ops;
  for (std::size_t i = 0; i < tape.size(); ++i) ops.push_back(tape[i]);
  return ops;
}

std::size_t write_ops(const Ops& ops, std::uint8_t* data, std::size_t max_size) {
  const std::size_t count = std::min(ops.size(), max_size / kOpBytes);
  for (std::size_t i = 0; i < count; ++i) {
    data[i * kOpBytes] = ops[i].code;
    data[i * kOpBytes + 1] = ops[i].a;
    data[i * kOpBytes + 2] = ops[i].b;
  }
  return count * kOpBytes;
}

Op any_op(Dice& dice) {
  return {dice.byte(), dice.byte(), dice.byte()};
}

auto at(Ops& ops, std::size_t i) {
  return ops.begin() + static_cast<std::ptrdiff_t>(i);
}

void insert_some(Ops& ops, Dice& dice) {
  for (std::size_t left = 1 + dice.below(4); left > 0; --left) {
    ops.insert(at(ops, dice.below(ops.size() + 1)), any_op(dice));
  }
}

void remove_run(Ops& ops, Dice& dice) {
  const std::size_t from = dice.below(ops.size());
  const std::size_t count = std::min(1 + dice.below(4), ops.size() - from);
  ops.erase(at(ops, from), at(ops, from + count));
}

void double_run(Ops& ops, Dice& dice) {
  const std::size_t from = dice.below(ops.size());
  const std::size_t count = std::min(1 + dice.below(8), ops.size() - from);
  const Ops run(at(ops, from), at(ops, from + count));
  ops.insert(at(ops, dice.below(ops.size() + 1)), run.begin(), run.end());
}

void change_one(Ops& ops, Dice& dice) {
  Op& op = ops[dice.below(ops.size())];
  std::uint8_t& field = *std::array<std::uint8_t*, 3>{&op.code, &op.a, &op.b}[dice.below(3)];
  if (dice.below(4) == 0) {
    LLVMFuzzerMutate(&field, 1, 1);
  } else if (dice.below(2) == 0) {
    field = static_cast<std::uint8_t>(field ^ (1U << dice.below(8)));
  } else {
    field = dice.byte();
  }
}

void mutate_once(Ops& ops, Dice& dice) {
  if (ops.empty()) return insert_some(ops, dice);
  switch (dice.below(8)) {
    case 0:
    case 1:
      return insert_some(ops, dice);
    case 2:
      return remove_run(ops, dice);
    case 3:
      return double_run(ops, dice);
    case 4:
      return std::swap(ops[dice.below(ops.size())], ops[dice.below(ops.size())]);
    default:
      return change_one(ops, dice);
  }
}

}  // namespace
}  // namespace flare::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  flare::fuzz::Dice dice(seed);
  flare::fuzz::Ops ops = flare::fuzz::read_ops(data, size);
  for (std::size_t left = 1 + dice.below(3); left > 0; --left) flare::fuzz::mutate_once(ops, dice);
  return flare::fuzz::write_ops(ops, data, max_size);
}

// The beginning of one tape, then the end of another.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2, std::uint8_t* out,
                                                 std::size_t max_size, unsigned seed) {
  flare::fuzz::Dice dice(seed);
  flare::fuzz::Ops ops = flare::fuzz::read_ops(data1, size1);
  const flare::fuzz::Ops other = flare::fuzz::read_ops(data2, size2);
  ops.resize(dice.below(ops.size() + 1));
  ops.insert(ops.end(), other.end() - static_cast<std::ptrdiff_t>(dice.below(other.size() + 1)), other.end());
  return flare::fuzz::write_ops(ops, out, max_size);
}
