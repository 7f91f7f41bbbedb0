#include "common/cli.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace flare::tools {

bool parse_whole(const std::string& text, std::int64_t& value) {
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) at = 1;
  if (at == text.size()) return false;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t total = 0;
  for (; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9') return false;
    const int digit = text[at] - '0';
    if (total > (kMax - digit) / 10) return false;
    total = total * 10 + digit;
  }
  value = negative ? -total : total;
  return true;
}

std::string check_whole(const std::string& text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  if (parse_whole(text, value) && value >= low && value <= high) return {};
  return "'" + text + "' is not a whole number from " + std::to_string(low) + " to " + std::to_string(high);
}

std::string check_choice(const std::string& text, const std::vector<std::string>& choices) {
  std::string all;
  for (const std::string& choice : choices) {
    if (choice == text) return {};
    all += (all.empty() ? "" : ", ") + choice;
  }
  return "'" + text + "' is not one of: " + all;
}

std::string environment_name(const std::string& prefix, const std::string& flag) {
  std::string name = prefix;
  for (std::size_t at = flag.find_first_not_of('-'); at < flag.size(); ++at) {
    name += flag[at] == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(flag[at])));
  }
  return name;
}

CLI::Option* FlagSet::named(CLI::Option* option, const std::string& flag) {
  if (!prefix_.empty()) option->envname(environment_name(prefix_, flag));
  return option;
}

CLI::Option* FlagSet::whole(const std::string& flag, std::int64_t& value, std::int64_t low, std::int64_t high,
                            const std::string& help) {
  const auto check = [low, high](const std::string& text) { return check_whole(text, low, high); };
  CLI::Option* option = app_.add_option(flag, value, help);
  const std::string range = std::to_string(low) + ".." + std::to_string(high);
  return named(option->check(CLI::Validator(check, range))->capture_default_str()->type_name("N"), flag);
}

CLI::Option* FlagSet::choice(const std::string& flag, std::string& value, const std::vector<std::string>& choices,
                             const std::string& help) {
  std::string all;
  for (const std::string& one : choices) all += (all.empty() ? "" : "|") + one;
  const auto check = [choices](const std::string& text) { return check_choice(text, choices); };
  CLI::Option* option = app_.add_option(flag, value, help);
  return named(option->check(CLI::Validator(check, all))->capture_default_str()->type_name("CHOICE"), flag);
}

CLI::Option* FlagSet::text(const std::string& flag, std::string& value, const std::string& help) {
  return named(app_.add_option(flag, value, help)->capture_default_str(), flag);
}

CLI::Option* FlagSet::list(const std::string& flag, std::vector<std::string>& value, const std::string& help) {
  // One value per flag, or several in one, separated by commas (that is the form of the environment).
  return named(app_.add_option(flag, value, help)->delimiter(',')->allow_extra_args(false)->capture_default_str(),
               flag);
}

CLI::Option* FlagSet::on_off(const std::string& flag, bool& value, const std::string& help) {
  return named(app_.add_flag(flag, value, help), flag);
}

namespace {

// Only the first line of a message: an error of ours is one line.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

int parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : kExitUsage;
  } catch (const CLI::CallForVersion& version) {
    std::printf("%s\n", version.what());
    return std::fflush(stdout) == 0 ? 0 : kExitUsage;
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s (see --help)\n", app.get_name().c_str(), first_line(error.what()).c_str());
    return kExitUsage;
  }
  return -1;
}

}  // namespace flare::tools
