// How many workers, from quotas and masks; and on which CPU each runs.
#include "flare/scheduler/cpu_affinity.h"

#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "flare/kernel/system_kernel.h"
#include "harness.h"

namespace flare::testing {
namespace {

using Limit = std::optional<int>;

// proves: C-START-05
TEST(CpuQuota, CpuMaxIsRoundedUpAndNeverZero) {
  const std::pair<const char*, Limit> cases[] = {{"max 100000", {}},
                                                 {"max 100000\n", {}},
                                                 {"50000 100000\n", 1},
                                                 {"1 100000", 1},
                                                 {"100000 100000", 1},
                                                 {"100001 100000", 2},
                                                 {"150000 100000\n", 2},
                                                 {"200000 100000", 2},
                                                 {"  200000 100000 ", 2},
                                                 {"", {}},
                                                 {"\n", {}},
                                                 {"200000", {}},
                                                 {"0 100000", {}},
                                                 {"-1 100000", {}},
                                                 {"100000 0", {}},
                                                 {"100000 -5", {}},
                                                 {"many 100000", {}},
                                                 {"100000 often", {}},
                                                 {"1e5 100000", {}},
                                                 {"100000 100000 1", {}},
                                                 {"9223372036854775807 1", limits::kMaxWorkers},
                                                 {"99999999999999999999 100000", {}},
                                                 {"25600001 100000", limits::kMaxWorkers}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(parse_cpu_max(text), expected) << '"' << text << '"';
}

// proves: C-START-05
TEST(CpuQuota, CfsQuotaIsRoundedUpAndMinusOneMeansNone) {
  struct Case {
    const char* quota;
    const char* period;
    Limit expected;
  };
  const Case cases[] = {{"-1", "100000", {}},     {"-1\n", "100000\n", {}}, {"50000\n", "100000\n", 1},
                        {"100000", "100000", 1},  {"150000", "100000", 2},  {"400000", "100000", 4},
                        {"", "100000", {}},       {"100000", "", {}},       {"0", "100000", {}},
                        {"100000", "0", {}},      {"abc", "100000", {}},    {"100000", "abc", {}},
                        {"100 000", "100000", {}}};
  for (const Case& one : cases) {
    EXPECT_EQ(parse_cfs_quota(one.quota, one.period), one.expected) << one.quota << " / " << one.period;
  }
}

// proves: C-START-05
TEST(CpuQuota, EveryGroupOnTheWayToTheRootIsLookedAt) {
  using Paths = std::vector<std::string>;
  const CgroupPaths v2 = cgroup_paths("0::/a/b\n", "/r");
  EXPECT_EQ(v2.v2, (Paths{"/r/a/b", "/r/a", "/r"}));
  EXPECT_TRUE(v2.v1.empty());
  EXPECT_EQ(cgroup_paths("0::/\n", "/r").v2, Paths{"/r"});
  EXPECT_EQ(cgroup_paths("0::/", "/r").v2, Paths{"/r"}) << "no newline at the end";
  const CgroupPaths v1 = cgroup_paths("11:memory:/x\n4:cpu,cpuacct:/g\n3:cpuset:/y\n", "/r");
  EXPECT_TRUE(v1.v2.empty());
  EXPECT_EQ(v1.v1, (Paths{"/r/cpu,cpuacct/g", "/r/cpu,cpuacct", "/r/cpu/g", "/r/cpu"}));
  const CgroupPaths both = cgroup_paths("4:cpu:/g\n0::/h\n", "/r");
  EXPECT_EQ(both.v2, (Paths{"/r/h", "/r"}));
  EXPECT_FALSE(both.v1.empty());
  for (const char* text : {"", "\n\n", "nonsense", "1:cpu", "::", "0:"}) {
    const CgroupPaths none = cgroup_paths(text, "/r");
    EXPECT_TRUE(none.v1.empty()) << text;
    EXPECT_LE(none.v2.size(), 1U) << text;
  }
  EXPECT_EQ(cgroup_paths("0::/a:b\n", "/r").v2.front(), "/r/a:b") << "a name may hold a colon";
}

TEST(CpuQuota, AMissingFolderIsNoLimit) {
  EXPECT_EQ(cgroup_cpu_limit("/nonexistent/cgroup"), Limit{});
}

// proves: C-START-05
TEST(CpuQuota, TheSmallestLimitOnTheWayCounts) {
  std::ifstream file("/proc/self/cgroup");
  const std::string groups((std::istreambuf_iterator<char>(file)), {});
  std::string root = ::testing::TempDir() + "flare-cgroup-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const CgroupPaths paths = cgroup_paths(groups, root);
  if (paths.v2.empty() && paths.v1.empty()) GTEST_SKIP() << "/proc/self/cgroup names no group";
  // Two folders above each other, so that the smaller limit is once the first and once the last that is read.
  const auto limit = [&](const std::string& path, int cpus) {
    std::filesystem::create_directories(path);
    std::ofstream(path + "/cpu.max") << cpus << "00000 100000\n";
    std::ofstream(path + "/cpu.cfs_quota_us") << cpus << "00000\n";
    std::ofstream(path + "/cpu.cfs_period_us") << "100000\n";
  };
  const std::vector<std::string>& way = paths.v2.empty() ? paths.v1 : paths.v2;
  for (const auto& [first, last] : {std::pair(3, 2), std::pair(2, 3)}) {
    limit(way.front(), first);
    EXPECT_EQ(cgroup_cpu_limit(root), Limit{first});
    if (way.size() == 1) continue;
    limit(way.back(), last);
    EXPECT_EQ(cgroup_cpu_limit(root), Limit{2}) << first << ", " << last;
    std::filesystem::remove(way.back() + "/cpu.max");
    std::filesystem::remove(way.back() + "/cpu.cfs_quota_us");
  }
  std::filesystem::remove_all(root);
}

// proves: C-START-05
TEST(WorkerCount, IsTheSmallerOfCpusAndQuotaWithinBounds) {
  struct Case {
    int allowed;
    Limit quota;
    int expected;
  };
  const Case cases[] = {{4, {}, 4}, {4, 2, 2},  {2, 4, 2},       {1, 1, 1},        {0, {}, 1},     {-3, {}, 1},
                        {8, 0, 1},  {8, -2, 1}, {1000, {}, 256}, {1000, 300, 256}, {256, 256, 256}};
  for (const Case& one : cases) {
    EXPECT_EQ(worker_count_for(one.allowed, one.quota), one.expected)
        << one.allowed << " CPUs, quota " << one.quota.value_or(-99);
  }
  EXPECT_GE(default_worker_count(), limits::kMinWorkers);
  const auto allowed = SystemKernel::allowed_cpus();
  ASSERT_TRUE(allowed.ok());
  EXPECT_LE(default_worker_count(), static_cast<int>(allowed.value().size()));
}

// proves: C-START-05
TEST(WorkerCount, RespectsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  const auto allowed = SystemKernel::allowed_cpus();
  ASSERT_TRUE(allowed.ok());
  CPU_SET(static_cast<std::size_t>(allowed.value().back()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const int count = default_worker_count();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(count, 1);
}

TEST(CpuForWorker, TakesTheNthAllowedOneModuloTheirNumber) {
  const std::vector<int> allowed{2, 5, 7};
  const int expected[] = {2, 5, 7, 2, 5, 7, 2};
  for (int worker = 0; worker < 7; ++worker) EXPECT_EQ(cpu_for_worker(allowed, worker), expected[worker]);
  EXPECT_EQ(cpu_for_worker({}, 3), -1);
}

// What the line says for the thread that runs: "Cpus_allowed_list:\t0-1".
std::string mask_of(const char* who) {
  std::ifstream status(std::string("/proc/") + who + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("Cpus_allowed_list:", 0) == 0) return line.substr(line.find_first_not_of(" \t", 18));
  }
  return "unknown";
}

LineFrontend tell_mask() {
  return LineFrontend(
      [](const std::string&, int worker) { return std::to_string(worker) + " " + mask_of("thread-self"); });
}

// The mask of each worker, by its own word.
std::vector<std::string> masks(const SocketAddress& address, int workers) {
  std::vector<std::string> found(static_cast<std::size_t>(workers));
  std::set<int> missing;
  for (int worker = 0; worker < workers; ++worker) missing.insert(worker);
  for (int i = 0; i < 2000 && !missing.empty(); ++i) {
    LineClient client(address);
    const std::string answer = client.ask("mask").value_or("0 no answer");
    const int worker = std::stoi(answer);
    found[static_cast<std::size_t>(worker)] = answer.substr(answer.find(' ') + 1);
    missing.erase(worker);
  }
  EXPECT_TRUE(missing.empty());
  return found;
}

// proves: C-START-05
TEST(Pinning, EachWorkerHasItsCpuAndTheCallerKeepsItsMask) {
  const std::string before = mask_of("self");
  const auto allowed = SystemKernel::allowed_cpus();
  ASSERT_TRUE(allowed.ok());
  constexpr int kWorkers = 3;
  auto scheduler = start_any(tell_mask(), kWorkers, with(ListenerStrategy::kPerWorker));
  const auto found = masks(scheduler.addresses().front(), kWorkers);
  for (int worker = 0; worker < kWorkers; ++worker) {
    EXPECT_EQ(found[static_cast<std::size_t>(worker)], std::to_string(cpu_for_worker(allowed.value(), worker)));
  }
  EXPECT_EQ(mask_of("thread-self"), before);
  EXPECT_EQ(mask_of("self"), before);
}

// proves: C-START-05
TEST(Pinning, WithoutPinningEveryWorkerHasTheCallersMask) {
  const std::string before = mask_of("self");
  auto scheduler = LineScheduler::start(own_loopback(), tell_mask(), 2, false, {}, with(ListenerStrategy::kPerWorker));
  for (const std::string& mask : masks(scheduler.addresses().front(), 2)) EXPECT_EQ(mask, before);
}

// proves: C-START-05
TEST(Pinning, WorkersBlockAllSignals) {
  auto scheduler = start_any(LineFrontend([](const std::string&, int) {
                               sigset_t blocked;
                               ::sigemptyset(&blocked);
                               ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
                               int missing = 0;
                               for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGCHLD, SIGALRM}) {
                                 missing += ::sigismember(&blocked, signal) == 1 ? 0 : 1;
                               }
                               return std::to_string(missing);
                             }),
                             1);
  EXPECT_EQ(LineClient(scheduler.addresses().front()).ask("?"), "0");
}

}  // namespace
}  // namespace flare::testing
