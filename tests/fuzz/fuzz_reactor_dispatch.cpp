// Tapes for the reactor. The same source is built on the real kernel and, with FLARE_MODEL, on the simulated one.
#include <algorithm>
#include <string>

#include "dispatch.h"
#include "target.h"

namespace flare::fuzz {

namespace {

std::string operation_text(Op op) {
  const Arguments at(op);
  const char* name = Dispatch::name_of(op);
  return std::string(name) + " slot=" + std::to_string(at.slot) + " other=" + std::to_string(at.other) +
         " reactor=" + std::to_string(at.reactor) + " flag=" + std::to_string(at.flag) +
         " interest=" + std::to_string(at.interest()) + " batch=" + std::to_string(at.batch()) +
         " number=" + std::to_string(at.number);
}

}  // namespace

std::string dump_text(const std::uint8_t* data, std::size_t size) {
  const Tape tape(data, size);
  std::string text;
  for (std::size_t i = 0; i < tape.size(); ++i) text += std::to_string(i) + ": " + operation_text(tape[i]) + '\n';
  return text;
}

}  // namespace flare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flare::fuzz::begin_input(data, size);
  static flare::fuzz::Dispatch dispatch;
  dispatch.run(flare::fuzz::Tape(data, size));
  return 0;
}
