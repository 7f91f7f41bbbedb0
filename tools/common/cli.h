// cli.h: command lines of the tools: flags that are also environment variables and lines of a file, and errors that
// name flag, value and what was expected in one line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace flare::tools {

inline constexpr int kExitUsage = 2;

// A whole number of the form [+-]digits; false for anything else, overflow included.
bool parse_whole(const std::string& text, std::int64_t& value);

// "'abc' is not a whole number from 1 to 256", or "" when text is one.
std::string check_whole(const std::string& text, std::int64_t low, std::int64_t high);
// "'abc' is not one of: table, json", or "".
std::string check_choice(const std::string& text, const std::vector<std::string>& choices);

// FLARE_SERVE_MAX_CONNECTIONS for prefix FLARE_SERVE_ and flag --max-connections.
std::string environment_name(const std::string& prefix, const std::string& flag);

// Adds flags to one app; every flag gets its environment variable when the prefix is not empty.
class FlagSet {
 public:
  FlagSet(CLI::App& app, std::string environment_prefix) : app_(app), prefix_(std::move(environment_prefix)) {}

  CLI::Option* whole(const std::string& flag, std::int64_t& value, std::int64_t low, std::int64_t high,
                     const std::string& help);
  CLI::Option* choice(const std::string& flag, std::string& value, const std::vector<std::string>& choices,
                      const std::string& help);
  CLI::Option* text(const std::string& flag, std::string& value, const std::string& help);
  CLI::Option* list(const std::string& flag, std::vector<std::string>& value, const std::string& help);
  CLI::Option* on_off(const std::string& flag, bool& value, const std::string& help);

 private:
  CLI::Option* named(CLI::Option* option, const std::string& flag);

  CLI::App& app_;
  std::string prefix_;
};

// Parses. Returns -1 to go on, or the exit code: 0 after --help and --version, 2 after one line on stderr.
int parse_command_line(CLI::App& app, int argc, const char* const* argv);

}  // namespace flare::tools
