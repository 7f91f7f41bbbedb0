// What can't be: exit 2, and one clear line that names the value.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "process.h"

namespace flare::testing {
namespace {

struct Wrong {
  std::vector<std::string> arguments;
  std::vector<std::string> named;  // all of it stands in the line
  std::vector<std::string> environment = {};
};

void expect_refused(const Wrong& wrong) {
  std::vector<std::string> command = {FLARE_SERVE};
  command.insert(command.end(), wrong.arguments.begin(), wrong.arguments.end());
  const Finished end = run(command, wrong.environment);
  EXPECT_EQ(end.code, 2) << wrong.named[0] << ": " << end.err;
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  EXPECT_EQ(end.err.rfind("flare-serve: ", 0), 0U) << end.err;
  for (const std::string& name : wrong.named)
    EXPECT_NE(end.err.find(name), std::string::npos) << name << ": " << end.err;
  EXPECT_EQ(end.out, "");
}

// proves: C-TOOL-03, C-TOOL-04
TEST(ServeErrors, NamesFlagAndValue) {
  const std::vector<Wrong> all = {
      {{"--bogus"}, {"--bogus"}},
      {{"--workers", "0"}, {"--workers", "'0'", "1 to 256"}},
      {{"--workers", "257"}, {"--workers", "'257'"}},
      {{"--workers", "many"}, {"--workers", "'many'"}},
      {{"--workers"}, {"--workers"}},
      {{"--address", "127.0.0.1"}, {"--address", "'127.0.0.1'"}},
      {{"--address", "localhost:80"}, {"--address", "'localhost:80'"}},
      {{"--address", "127.0.0.1:65536"}, {"--address", "'127.0.0.1:65536'"}},
      {{"--listeners", "two"}, {"--listeners", "'two'", "per-worker, shared, env"}},
      {{"--handoff", "maybe"}, {"--handoff", "'maybe'", "on, off, env"}},
      {{"--handoff-capacity", "-1"}, {"--handoff-capacity", "'-1'"}},
      {{"--handler", "dance"}, {"--handler", "'dance'"}},
      {{"--report", "xml"}, {"--report", "'xml'"}},
      {{"--idle-deadline-ms", "0"}, {"--idle-deadline-ms", "'0'"}},
      {{}, {"--workers", "'lots'"}, {"FLARE_SERVE_WORKERS=lots"}},
      {{"--config", "/nonexistent/flare.conf"}, {"/nonexistent/flare.conf"}},
      {{"--report-file", "/nonexistent/report.json"}, {"--report-file", "'/nonexistent/report.json'"}},
  };
  for (const Wrong& wrong : all) {
    // What stands in the way of the last ones only must not start a server on the way.
    expect_refused(wrong);
  }
}

// proves: C-TOOL-04
TEST(ServeErrors, NamesTheUnknownLineOfAFile) {
  const std::string path = ::testing::TempDir() + "flare-serve-" + std::to_string(::getpid()) + ".conf";
  std::ofstream(path) << "workers=2\nwrokers=3\n";
  expect_refused({{"--config", path}, {"wrokers"}});
  ::unlink(path.c_str());
}

// proves: C-TOOL-03, C-TOOL-04
TEST(ServeErrors, NamesABusyPortInBothStrategies) {
  Server first({"--workers", "2"});
  ASSERT_NE(first.address(), "");
  for (const char* strategy : {"per-worker", "shared"}) {
    const Finished end = run({FLARE_SERVE, "--address", first.address(), "--workers", "2", "--listeners", strategy});
    EXPECT_EQ(end.code, 2) << strategy;
    EXPECT_NE(end.err.find("flare-serve: can't start: "), std::string::npos) << end.err;
    EXPECT_NE(end.err.find(first.address()), std::string::npos) << end.err;
    EXPECT_NE(end.err.find("in use"), std::string::npos) << end.err;
  }
}

// The lowest port that needs no privilege; 0 when the kernel does not say.
int first_unprivileged_port() {
  int port = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> port;
  return port;
}

// root may bind any port: there, the program runs as nobody, from a copy that nobody may read.
// proves: C-TOOL-03, C-TOOL-04
TEST(ServeErrors, NamesAPrivilegedPortInBothStrategies) {
  if (first_unprivileged_port() <= 80) GTEST_SKIP() << "this machine lets everybody bind port 80";
  const bool root = ::geteuid() == 0;
  if (root && ::access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "root, and no /usr/bin/setpriv to drop it";
  const std::string copy = ::testing::TempDir() + "flare-serve-" + std::to_string(::getpid());
  std::filesystem::copy_file(FLARE_SERVE, copy, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::permissions(copy, std::filesystem::perms(0755));
  for (const char* strategy : {"per-worker", "shared"}) {
    std::vector<std::string> command;
    if (root) command = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    command.insert(command.end(), {copy, "--address", "127.0.0.1:80", "--workers", "2", "--listeners", strategy});
    const Finished end = run(command);
    EXPECT_EQ(end.code, 2) << strategy;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    EXPECT_NE(end.err.find("flare-serve: can't start: "), std::string::npos) << end.err;
    EXPECT_NE(end.err.find("127.0.0.1:80"), std::string::npos) << end.err;
    EXPECT_NE(end.err.find("Permission denied"), std::string::npos) << end.err;
  }
  ::unlink(copy.c_str());
}

TEST(ServeErrors, HelpAndVersionAreNoErrors) {
  const Finished help = run({FLARE_SERVE, "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("--drain-timeout-ms"), std::string::npos);
  EXPECT_NE(help.out.find("FLARE_SERVE_DRAIN_TIMEOUT_MS"), std::string::npos);
  const Finished version = run({FLARE_SERVE, "--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out.rfind("flare-serve ", 0), 0U) << version.out;
}

}  // namespace
}  // namespace flare::testing
