#include "conformance/runner.h"

#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace flare::sim::conformance {

namespace {

constexpr std::uint16_t kFirstChosenPort = 32768;
constexpr int kMostNumbers = 20;  // no limit of a script is higher

std::string text_of(const Outcome& outcome) {
  if (outcome.error != 0) return ::strerrorname_np(outcome.error);
  return std::to_string(outcome.value);
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(value));
  return text;
}

std::string text_of_events(const Outcome& outcome) {
  std::string text;
  for (std::int64_t i = 0; i < outcome.value; ++i) {
    const epoll_event event = outcome.events[static_cast<std::size_t>(i)];
    const std::uint32_t events = event.events;
    text += " " + std::to_string(std::uint64_t{event.data.u64}) + ":" + hex(events);
  }
  return "{" + text + " }";
}

}  // namespace

std::optional<Disagreement> Runner::run(const Script& script) {
  // 127.1.0.0 and up, from a place that differs from process to process.
  const auto start = static_cast<std::uint32_t>(::getpid()) * 4096U;
  place_.ip = 0x7f010000U + (start + places_used_++) % 0x00f00000U;
  real_.start(script.limit);
  simulated_.start(script.limit);
  ports_.clear();
  groups_ = std::any_of(script.calls.begin(), script.calls.end(),
                        [](const Call& call) { return call.op == Op::kOption && call.other == 1; });
  watched_ = kMostNumbers;
  for (std::size_t i = 0; i < script.calls.size(); ++i) {
    const Call& call = script.calls[i];
    if (groups_ && call.op == Op::kConnect) look_at_queues();
    const Outcome real = make_call(real_, call, place_, i);
    const Outcome simulated = make_call(simulated_, call, place_, i);
    ++calls_;
    ++real_coverage_[result_class(call, real)];
    ++simulated_coverage_[result_class(call, simulated)];
    std::string what = compare(script, real, simulated);
    if (what.empty()) what = compare_readiness();
    if (!what.empty()) return Disagreement{i, what};
  }
  return std::nullopt;
}

Script Runner::shrink(Script script) {
  if (const auto first = run(script)) script.calls.resize(first->call + 1);
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = script.calls.size(); i-- > 0;) {
      Script without = script;
      without.calls.erase(without.calls.begin() + static_cast<std::ptrdiff_t>(i));
      const auto again = run(without);
      if (!again) continue;
      without.calls.resize(again->call + 1);
      script = without;
      smaller = true;
      i = std::min(i, script.calls.size());
    }
  }
  return script;
}

void Runner::look_at_queues() {
  queues_.assign(static_cast<std::size_t>(watched_), 0);
  for (int fd = 0; fd < watched_; ++fd) {
    const Result<int> queue = real_.accept_backlog(fd);
    if (queue.ok()) queues_[static_cast<std::size_t>(fd)] = queue.value();
  }
}

// The member whose queue grew; if none did, its queue was full, which calls for one that is.
unsigned Runner::choose(unsigned options, const char* what) {
  if (std::string_view(what) != "reuseport member") return 0;
  const auto& members = simulated_.machine().options();
  unsigned full = 0;
  for (unsigned i = 0; i < options; ++i) {
    for (int fd = 0; fd < watched_; ++fd) {
      if (simulated_.machine().description_of(kServer, fd) != members[i]) continue;
      const Result<int> queue = real_.accept_backlog(fd);
      if (queue.ok() && queue.value() > queues_[static_cast<std::size_t>(fd)]) return i;
      if (simulated_.machine().refuses_more(kServer, fd)) full = i;
    }
  }
  return full;
}

std::string Runner::compare(const Script& script, const Outcome& real, const Outcome& simulated) {
  if (real.error != simulated.error || real.value != simulated.value) {
    std::string what = "real " + text_of(real) + ", simulated " + text_of(simulated);
    if (real.error == 0 && simulated.error == 0) {
      what += "; events " + text_of_events(real) + " and " + text_of_events(simulated);
    }
    return what;
  }
  if (real.content != simulated.content) return "other bytes";
  if (real.named) return compare_names(real, simulated);
  return compare_events(script, real, simulated);
}

std::string Runner::compare_events(const Script& script, const Outcome& real, const Outcome& simulated) {
  using Pair = std::pair<std::uint64_t, std::uint32_t>;
  const auto pairs = [&](const Outcome& outcome) {
    std::vector<Pair> out;
    for (std::int64_t i = 0; i < outcome.value && i < kMostEvents; ++i) {
      const epoll_event event = outcome.events[static_cast<std::size_t>(i)];  // packed, so its members are copied
      out.emplace_back(std::uint64_t{event.data.u64}, std::uint32_t{event.events});
    }
    if (!script.ordered) std::sort(out.begin(), out.end());
    return out;
  };
  if (pairs(real) == pairs(simulated)) return "";
  return "events: real " + text_of_events(real) + ", simulated " + text_of_events(simulated);
}

// Ports that the kernel chose differ, but always in the same way.
std::string Runner::compare_names(const Outcome& real, const Outcome& simulated) {
  if (real.name.ss_family != simulated.name.ss_family) return "names of other families";
  if (real.name.ss_family != AF_INET) return "";
  sockaddr_in a{};
  sockaddr_in b{};
  std::memcpy(&a, &real.name, sizeof a);
  std::memcpy(&b, &simulated.name, sizeof b);
  const std::uint16_t port = ntohs(a.sin_port);
  const std::uint16_t other = ntohs(b.sin_port);
  if (a.sin_addr.s_addr != b.sin_addr.s_addr) {
    return "addresses " + hex(ntohl(a.sin_addr.s_addr)) + " and " + hex(ntohl(b.sin_addr.s_addr));
  }
  const bool chosen = port >= kFirstChosenPort && other >= kFirstChosenPort;
  if (port == other || (chosen && ports_.try_emplace(other, port).first->second == port)) return "";
  return "ports " + std::to_string(port) + " and " + std::to_string(other);
}

// To look at a set changes its ready list, so sets are left out.
std::string Runner::compare_readiness() {
  const Machine& machine = simulated_.machine();
  bits_.assign(static_cast<std::size_t>(watched_), 0);
  for (int fd = 0; fd < watched_; ++fd) {
    const bool set = machine.is_open(kServer, fd) && machine.kind_of(kServer, fd) == Kind::kEpoll;
    if (set) bits_[static_cast<std::size_t>(fd)] = RealWorld::kLeaveOut;
  }
  real_.poll_all(bits_);
  for (int fd = 0; fd < watched_; ++fd) {
    const unsigned real = bits_[static_cast<std::size_t>(fd)];
    if (real == RealWorld::kLeaveOut) continue;
    if (machine.is_open(kServer, fd) != (real != RealWorld::kClosed)) {
      return "number " + std::to_string(fd) + " is open in one only";
    }
    const Result<unsigned> simulated = simulated_.poll_bits(fd);
    if (!simulated.ok() || real == simulated.value()) continue;
    return "readiness of " + std::to_string(fd) + ": real " + hex(real) + ", simulated " + hex(simulated.value());
  }
  return "";
}

}  // namespace flare::sim::conformance
