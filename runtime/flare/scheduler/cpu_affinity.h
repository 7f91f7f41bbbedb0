// cpu_affinity.h: how many workers, and on which CPU each.                            Public header.
// Threads:    any; pin applies to the calling thread.
// Owns:       nothing.
// Bounds:     1..limits::kMaxWorkers.
// Errors:     what cannot be read counts as "no limit"; never 0.
// Ordering:   none.
// Invariants: none.
// Not here:   starting threads (worker_thread.h).
// Source:     seeds, flare.runtime.scheduler (default_worker_count, pin_cores); decision 25.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI {

// CPUs that a quota grants, rounded up; nothing when there is none or the text is not understood.
// v2: the text of cpu.max, "150000 100000" or "max 100000". v1: cpu.cfs_quota_us (-1: none) and cpu.cfs_period_us.
std::optional<int> parse_cpu_max(std::string_view text);
std::optional<int> parse_cfs_quota(std::string_view quota_text, std::string_view period_text);
// The directories to look for cpu.max (v2) and cpu.cfs_* (v1) in, nearest first, from the text of /proc/self/cgroup.
struct CgroupPaths {
  std::vector<std::string> v2;
  std::vector<std::string> v1;
};
CgroupPaths cgroup_paths(std::string_view proc_self_cgroup, const std::string& root = "/sys/fs/cgroup");
// The smallest quota on the way from this process's group to the root.
std::optional<int> cgroup_cpu_limit(const std::string& root = "/sys/fs/cgroup");

// min(allowed, quota), at least 1, at most limits::kMaxWorkers. allowed < 1 counts as 1.
int worker_count_for(int allowed_cpus, std::optional<int> quota);
int default_worker_count();

// The CPU of worker N: the N-th allowed one, modulo their number; -1 when none is known.
int cpu_for_worker(const std::vector<int>& allowed, int worker);

}  // namespace flare::inline FLARE_ABI
