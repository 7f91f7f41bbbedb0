#include "engine/choice.h"

#include <charconv>

namespace flare::sim {

std::string to_text(const ChoiceString& choices) {
  std::string text;
  for (const Choice& one : choices) {
    if (one.taken == 0) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(one.site) + ':' + std::to_string(one.taken) + '/' + std::to_string(one.options);
  }
  return text.empty() ? "-" : text;
}

namespace {

bool read_number(std::string_view& text, std::uint32_t& number, char end) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (text.empty()) return end == ',';
  if (text.front() != end) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<ChoiceString> parse_choices(std::string_view text) {
  ChoiceString choices;
  if (text == "-") return choices;
  if (text.empty() || text.back() == ',') return std::nullopt;
  while (!text.empty()) {
    Choice one;
    if (!read_number(text, one.site, ':') || !read_number(text, one.taken, '/') ||
        !read_number(text, one.options, ',')) {
      return std::nullopt;
    }
    if (one.taken == 0 || one.taken >= one.options) return std::nullopt;
    if (!choices.empty() && choices.back().site >= one.site) return std::nullopt;
    choices.push_back(one);
  }
  return choices;
}

int preemptions_of(const ChoiceString& choices) {
  int count = 0;
  for (const Choice& one : choices) count += one.kind == ChoiceKind::kPreempt && one.taken != 0 ? 1 : 0;
  return count;
}

int faults_of(const ChoiceString& choices) {
  int count = 0;
  for (const Choice& one : choices) count += one.kind == ChoiceKind::kFault && one.taken != 0 ? 1 : 0;
  return count;
}

}  // namespace flare::sim
