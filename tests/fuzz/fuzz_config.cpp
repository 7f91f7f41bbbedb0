// Text that comes from outside: an address, the variable that switches the handoff on, a group's CPU quota, the list of
// groups; and the numbers of a HttpConfig. The first byte picks one, the rest is what it reads.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "flare/base/limits.h"
#include "flare/base/network_error.h"
#include "flare/handoff/handoff_policy.h"
#include "flare/http/http_config.h"
#include "flare/net/socket_address.h"
#include "flare/scheduler/cpu_affinity.h"
#include "target.h"

namespace flare::fuzz {
namespace {

constexpr std::array<const char*, 5> kKinds = {"address", "FLARE_SOAK_WORKERS", "cpu.max", "cgroup", "HttpConfig"};

bool is_number(std::string_view text, std::size_t most) {
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && text.size() <= most && (text.size() == 1 || text.front() != '0');
}

// What an address must look like, by the C library: the host of one family and a port without decoration.
bool is_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || text.find('\0') != std::string::npos) return false;
  const std::string port = text.substr(colon + 1);
  std::string host = text.substr(0, colon);
  if (!is_number(port, 5) || std::atoi(port.c_str()) > 65535) return false;
  std::array<char, 16> address{};
  if (!host.starts_with('[')) return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1;
  if (!host.ends_with(']')) return false;
  host = host.substr(1, host.size() - 2);
  return ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

// What is understood is shown in a form that is understood alike; what is not is refused with a line that can be shown.
void read_address(const std::string& text) {
  std::optional<SocketAddress> parsed;
  try {
    parsed = SocketAddress::parse(text);
  } catch (const NetworkError& error) {
    require(error.code().value() == EINVAL, 0, "an address is refused with another error than EINVAL");
    const std::string_view what = error.what();
    const bool prints = std::all_of(what.begin(), what.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    require(prints && what.size() < 1000, 0, "a refusal that does not fit on a line");
  }
  require(parsed.has_value() == is_address(text), 0, parsed ? "no address is taken for one" : "an address is refused");
  if (!parsed) return;
  require(SocketAddress::parse(parsed->to_string()) == *parsed, 0, "an address that is shown is another one");
  require(parsed->with_port(1).port() == 1 && parsed->with_port(parsed->port()) == *parsed, 0, "with_port");
}

void read_switch(const std::string& text) {
  const std::string value = text.substr(0, text.find('\0'));
  ::setenv("FLARE_SOAK_WORKERS", value.c_str(), 1);
  std::string report;
  const HandoffPolicy initial(false, 7, 9);
  const HandoffPolicy policy = HandoffPolicy::from_env(initial, &report);
  const bool on = value == "on" || value == "1" || value == "true";
  const bool silent = on || value.empty() || value == "off" || value == "0" || value == "false";
  require(policy.enabled == on && policy.steal_threshold == (on ? 1 : 9) && policy.capacity == 7, 0, "the switch");
  require(report.empty() == silent, 0, "a value that is not understood is reported, and no other");
  require(silent || report.find(value) != std::string::npos, 0, "a report that does not show the value");
}

void read_quota(std::string_view text) {
  const std::size_t half = text.size() / 2;
  for (const std::optional<int> quota :
       {parse_cpu_max(text), parse_cfs_quota(text.substr(0, half), text.substr(half))}) {
    require(!quota || *quota >= 1, 0, "a quota of no CPU");
    const int workers = worker_count_for(64, quota);
    require(workers >= limits::kMinWorkers && workers <= 64 && (!quota || workers <= *quota), 0, "worker_count_for");
  }
}

void read_groups(std::string_view text) {
  const CgroupPaths paths = cgroup_paths(text, "/root");
  for (const auto* list : {&paths.v2, &paths.v1}) {
    for (const std::string& path : *list) require(path.starts_with("/root"), 0, "a path outside the root");
  }
}

// Eight numbers; each that is too small is refused, and nothing else is.
void read_http_config(std::string_view bytes) {
  std::array<std::int64_t, 8> numbers{};
  std::memcpy(numbers.data(), bytes.data(), std::min(bytes.size(), sizeof numbers));
  HttpConfig config;
  config.max_head_bytes = static_cast<std::size_t>(numbers[0] & INT64_MAX);
  config.max_target_bytes = static_cast<std::size_t>(numbers[1] & INT64_MAX);
  config.max_headers = static_cast<std::size_t>(numbers[2] & INT64_MAX);
  config.max_body_bytes = static_cast<std::size_t>(numbers[3] & INT64_MAX);
  config.head_deadline = std::chrono::milliseconds(numbers[4]);
  config.body_deadline = std::chrono::milliseconds(numbers[5]);
  config.idle_deadline = std::chrono::milliseconds(numbers[6]);
  config.write_deadline = std::chrono::milliseconds(numbers[7]);
  bool right = config.max_head_bytes >= 18 && config.max_target_bytes >= 1 && config.max_headers >= 1;
  for (std::size_t i = 4; i < 8; ++i) right = right && numbers[i] >= 1;
  bool taken = true;
  try {
    config.validate();
  } catch (const NetworkError&) {
    taken = false;
  }
  require(taken == right, 0, "HttpConfig::validate");
}

void run(std::uint8_t kind, const std::string& text) {
  switch (kind % kKinds.size()) {
    case 0:
      return read_address(text);
    case 1:
      return read_switch(text);
    case 2:
      return read_quota(text);
    case 3:
      return read_groups(text);
    default:
      return read_http_config(text);
  }
}

}  // namespace

std::string dump_text(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return "empty\n";
  return std::string(kKinds[data[0] % kKinds.size()]) + ": " + escaped(data + 1, size - 1) + '\n';
}

}  // namespace flare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  flare::fuzz::begin_input(data, size);
  flare::fuzz::run(data[0], std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
