#include "flare/scheduler/cpu_affinity.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "flare/base/limits.h"
#include "flare/kernel/system_kernel.h"

namespace flare::inline FLARE_ABI {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::int64_t> number(std::string_view text) {
  text = trimmed(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> cpus(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  const std::int64_t whole = *quota / *period + (*quota % *period != 0 ? 1 : 0);
  return static_cast<int>(std::min<std::int64_t>(whole, limits::kMaxWorkers));
}

std::optional<std::string> read(const std::string& path) {
  Result<std::string> text = SystemKernel::read_file(path.c_str());
  if (!text.ok()) return std::nullopt;
  return std::move(text).value();
}

// "/a/b" gives root/a/b, root/a, root.
std::vector<std::string> ancestors(const std::string& root, std::string_view group) {
  std::vector<std::string> paths;
  std::string path(group == "/" ? "" : group);
  for (;;) {
    paths.push_back(root + path);
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return paths;
    path.resize(slash);
  }
}

void keep_smaller(std::optional<int>& smallest, std::optional<int> found) {
  if (found && (!smallest || *found < *smallest)) smallest = found;
}

}  // namespace

std::optional<int> parse_cpu_max(std::string_view text) {
  text = trimmed(text);
  const auto space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  return cpus(number(text.substr(0, space)), number(text.substr(space + 1)));  // "max" is no number: no limit
}

std::optional<int> parse_cfs_quota(std::string_view quota_text, std::string_view period_text) {
  return cpus(number(quota_text), number(period_text));
}

CgroupPaths cgroup_paths(std::string_view proc_self_cgroup, const std::string& root) {
  CgroupPaths paths;
  while (!proc_self_cgroup.empty()) {
    const auto end = std::min(proc_self_cgroup.find('\n'), proc_self_cgroup.size());
    const std::string_view line = proc_self_cgroup.substr(0, end);
    proc_self_cgroup.remove_prefix(std::min(end + 1, proc_self_cgroup.size()));
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const std::string& path : ancestors(root, group)) paths.v2.push_back(path);
      continue;
    }
    const std::string list = "," + std::string(controllers) + ",";
    if (list.find(",cpu,") == std::string::npos) continue;
    for (const std::string& mount : {root + "/" + std::string(controllers), root + "/cpu"}) {
      for (const std::string& path : ancestors(mount, group)) paths.v1.push_back(path);
    }
  }
  return paths;
}

std::optional<int> cgroup_cpu_limit(const std::string& root) {
  std::optional<int> smallest;
  const CgroupPaths paths = cgroup_paths(read("/proc/self/cgroup").value_or(""), root);
  for (const std::string& path : paths.v2) {
    if (const auto text = read(path + "/cpu.max")) keep_smaller(smallest, parse_cpu_max(*text));
  }
  for (const std::string& path : paths.v1) {
    const auto quota = read(path + "/cpu.cfs_quota_us");
    const auto period = read(path + "/cpu.cfs_period_us");
    if (quota && period) keep_smaller(smallest, parse_cfs_quota(*quota, *period));
  }
  return smallest;
}

int worker_count_for(int allowed_cpus, std::optional<int> quota) {
  int count = std::max(allowed_cpus, 1);
  if (quota) count = std::min(count, std::max(*quota, 1));
  return std::clamp(count, limits::kMinWorkers, limits::kMaxWorkers);
}

int default_worker_count() {
  const Result<std::vector<int>> allowed = SystemKernel::allowed_cpus();
  return worker_count_for(allowed.ok() ? static_cast<int>(allowed.value().size()) : 1, cgroup_cpu_limit());
}

int cpu_for_worker(const std::vector<int>& allowed, int worker) {
  if (allowed.empty()) return -1;
  return allowed[static_cast<std::size_t>(worker) % allowed.size()];
}

}  // namespace flare::inline FLARE_ABI
