// sim_replay SCENARIO:CHOICES: runs one recorded schedule and prints its trace. --list: the scenarios' names.
// Exit status: 0 the schedule holds, 1 it fails, 2 the arguments are wrong.
#include <cstdio>
#include <cstring>
#include <string>

#include "scenarios/registry.h"

namespace flare::sim {
namespace {

int usage(const std::string& complaint) {
  std::fprintf(stderr, "sim_replay: %s; expected SCENARIO:CHOICES, as REPLAY= lines give it, or --list\n",
               complaint.c_str());
  return 2;
}

int replay(const std::string& argument) {
  const std::size_t colon = argument.find(':');
  if (colon == std::string::npos) return usage("'" + argument + "' has no colon");
  const std::optional<Scenario> scenario = find_scenario(argument.substr(0, colon));
  if (!scenario) return usage("no scenario is named '" + argument.substr(0, colon) + "'");
  const std::optional<ChoiceString> choices = parse_choices(argument.substr(colon + 1));
  if (!choices) return usage("'" + argument.substr(colon + 1) + "' is no choice string, such as 41:1/3,77:2/4 or -");
  Explorer explorer(*scenario);
  const Verdict verdict = explorer.replay(*choices, true);
  std::fputs(explorer.trace_text(verdict).c_str(), stdout);
  std::printf("%s, hash %016llx, %u steps\n",
              verdict.ok() ? "holds" : ("fails: " + verdict.oracle + ": " + verdict.text).c_str(),
              static_cast<unsigned long long>(verdict.hash), verdict.steps);
  return verdict.ok() ? 0 : 1;
}

}  // namespace
}  // namespace flare::sim

int main(int count, char** arguments) {
  using namespace flare::sim;
  if (count != 2) return usage(std::to_string(count - 1) + " arguments");
  if (std::strcmp(arguments[1], "--list") != 0) return replay(arguments[1]);
  for (const Scenario& one : all_scenarios()) std::printf("%s\n", one.name.c_str());
  return 0;
}
