// target.h: what every fuzz target gives, and how it says that something is wrong.
// Threads:    one.
// Bounds:     none; a target cuts an input that is too long for it.
// Errors:     a broken expectation prints the input as text and aborts, which libFuzzer and the replay both notice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace flare::fuzz {

// The target's: the input as a person reads it, one operation a line where it has operations.
std::string dump_text(const std::uint8_t* data, std::size_t size);

// Remembers the input that runs now, for fail.
void begin_input(const std::uint8_t* data, std::size_t size);
// Prints the input, the step that did not hold (counted from 0) and why, and aborts.
[[noreturn]] void fail(std::size_t step, const std::string& what);
inline void require(bool holds, std::size_t step, const char* what) {
  if (!holds) fail(step, what);
}

// "--dump FILE" among the arguments: prints the text and returns the exit status; -1: it was not asked for.
int dump_if_asked(int count, char** arguments);

// Bytes as text that fits on a line: \r, \n, \t and \xNN for what cannot be printed.
std::string escaped(const std::uint8_t* data, std::size_t size);

}  // namespace flare::fuzz
