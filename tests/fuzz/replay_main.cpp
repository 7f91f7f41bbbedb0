// The main of a target without libFuzzer: runs committed inputs.
//
//   TARGET [--repeat N] FILE-OR-DIRECTORY...   each input once, or N times; with --repeat it prints a rate
//   TARGET --dump FILE                         the input as text
// --at-least N: inputs of fewer bytes are left out, so that a rate is of what it is meant for.
// Exit status: 0 every input held, 1 there was no input, 2 the arguments are wrong. A failure aborts.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target.h"

namespace flare::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  unsigned long repeat = 0;  // 0: once, without a figure
  unsigned long at_least = 0;
  std::vector<fs::path> inputs;
};

struct Input {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

int usage(const std::string& complaint) {
  std::fprintf(stderr, "%s; expected [--repeat N] [--at-least BYTES] FILE-OR-DIRECTORY... or --dump FILE\n",
               complaint.c_str());
  return 2;
}

std::optional<unsigned long> number_of(std::string_view text) {
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The complaint; empty: options are filled.
std::string read_options(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--repeat" || argument == "--at-least") {
      const std::optional<unsigned long> number = i + 1 < count ? number_of(arguments[++i]) : std::nullopt;
      if (!number) return std::string(argument) + ": expected a number behind it";
      (argument == "--repeat" ? options.repeat : options.at_least) = *number;
    } else if (argument.starts_with("-")) {
      return "unknown option '" + std::string(argument) + "'";
    } else {
      options.inputs.emplace_back(argument);
    }
  }
  return options.inputs.empty() ? "no input was named" : "";
}

bool read_input(const fs::path& path, std::vector<Input>& inputs) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  inputs.push_back({path.string(), std::vector<std::uint8_t>(bytes.begin(), bytes.end())});
  return true;
}

// The complaint; empty: every input was read, in the order of their names.
std::string read_inputs(const Options& options, std::vector<Input>& inputs) {
  std::vector<fs::path> files;
  for (const fs::path& path : options.inputs) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    if (!read_input(file, inputs)) return "cannot read '" + file.string() + "'";
  }
  std::erase_if(inputs, [&](const Input& input) { return input.bytes.size() < options.at_least; });
  return "";
}

// A copy of exact size, so that the address sanitizer sees a read behind its end.
void run(const Input& input) {
  const std::vector<std::uint8_t> exact(input.bytes);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

int replay(const Options& options, const std::vector<Input>& inputs) {
  const std::clock_t start = std::clock();
  for (unsigned long round = 0; round < std::max(options.repeat, 1UL); ++round) {
    for (const Input& input : inputs) {
      // Said before it runs: the last name in the log is the input that failed.
      if (options.repeat == 0) std::fprintf(stderr, "%s\n", input.name.c_str());
      run(input);
    }
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%zu inputs held\n", inputs.size());
  if (options.repeat > 0) {
    const double runs = static_cast<double>(options.repeat) * static_cast<double>(inputs.size());
    std::printf("%.0f runs per second of processor time\n", runs / seconds);
  }
  return 0;
}

}  // namespace
}  // namespace flare::fuzz

int main(int count, char** arguments) {
  using namespace flare::fuzz;
  if (const int status = dump_if_asked(count, arguments); status >= 0) return status;
  Options options;
  if (const std::string complaint = read_options(count, arguments, options); !complaint.empty())
    return usage(complaint);
  std::vector<Input> inputs;
  if (const std::string complaint = read_inputs(options, inputs); !complaint.empty()) return usage(complaint);
  if (inputs.empty()) {
    std::fprintf(stderr, "no input was found\n");
    return 1;
  }
  return replay(options, inputs);
}
