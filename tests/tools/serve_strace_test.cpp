// flare-serve whose system calls fail, are interrupted or take long on the real kernel: strace injects, clients and
// report say what came of it. Only without a sanitizer: the leak checker does not work under a tracer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "judge/reports.h"
#include "process.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

using tools::Json;

struct Case {
  const char* name;
  const char* inject;  // strace's -e inject=
  bool all_answered;   // no client may notice
};

class ServeFaults : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Finished tried = run({"/usr/bin/strace", "-o", "/dev/null", "-e", "inject=getppid:error=EPERM", "/bin/true"});
    if (tried.code != 0) GTEST_SKIP() << "strace cannot trace here: " << tried.err;
  }
  void TearDown() override { ::unlink(log_.c_str()); }
  // How often strace did what it was asked to.
  int injected() const {
    std::ifstream file(log_);
    int count = 0;
    for (std::string line; std::getline(file, line);)
      if (line.find("INJECTED") != std::string::npos || line.find("DELAYED") != std::string::npos) ++count;
    return count;
  }

  const std::string log_ = ::testing::TempDir() + "flare-serve-strace-" + std::to_string(::getpid());
};

// The server is strace's parent (-D): signals and the exit code are its own.
// proves: C-ACCEPT-05, C-TOOL-02, INV-04, INV-17, INV-20
TEST_P(ServeFaults, EveryClientIsServedAndTheReportAddsUp) {
  Process server({"/usr/bin/strace", "-D", "-f", "-qq", "-o", log_, "-e",
                  "trace=accept4,epoll_wait,epoll_ctl,recvfrom,sendto,write", "-e",
                  std::string("inject=") + GetParam().inject, FLARE_SERVE, "--address", "127.0.0.1:0", "--workers", "2",
                  "--handoff", "on", "--report", "json"});
  const std::string mark = "listening on ";
  ASSERT_TRUE(wait_until([&] {
    const std::size_t at = server.err().find(mark);
    return at != std::string::npos && server.err().find('\n', at) != std::string::npos;
  })) << server.err();
  const std::size_t from = server.err().find(mark) + mark.size();
  const std::string address = server.err().substr(from, server.err().find('\n', from) - from);
  const Finished storm =
      run({FLARE_STORM, address, "--connections", "12", "--requests-per-client", "20", "--seed", "3", "--json", "-"});
  EXPECT_EQ(0, storm.code) << storm.err;
  const Json load = Json::parse(storm.out);
  if (GetParam().all_answered) {
    EXPECT_EQ(12 * 20, load.at("answered")) << storm.out;
  }
  EXPECT_EQ(0, load.at("endings").at("truncated")) << storm.out;
  EXPECT_EQ(0, load.at("endings").at("timeout")) << storm.out;
  server.signal(SIGTERM);
  EXPECT_EQ(0, server.finish()) << server.err();
  const Json report = Json::parse(server.out());
  EXPECT_EQ(true, report.at("adds_up"));
  EXPECT_EQ(report.at("fds_before"), report.at("fds_after"));
  EXPECT_GT(injected(), 0) << "nothing was injected";
}

INSTANTIATE_TEST_SUITE_P(
    Strace, ServeFaults,
    ::testing::Values(Case{"NoDescriptorAtEveryThirdAccept", "accept4:error=EMFILE:when=1+3", true},
                      Case{"ClientsGoneBeforeTheirAccept", "accept4:error=ECONNABORTED:when=1+2", true},
                      Case{"WaitsInterrupted", "epoll_wait:error=EINTR:when=2+2", true},
                      Case{"WaitsThatReturnLate", "epoll_wait:delay_exit=500:when=1+2", true},
                      Case{"ReadsInterrupted", "recvfrom:error=EINTR:when=1+3", true},
                      Case{"SocketsWithoutRoom", "sendto:error=EAGAIN:when=1+4", true},
                      Case{"SendsThatReturnLate", "sendto:delay_exit=500:when=1+3", true},
                      Case{"WakesThatAreSlow", "write:delay_enter=500:when=1+1", true},
                      Case{"ARegistrationIsRefused", "epoll_ctl:error=ENOSPC:when=7", false}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace flare::testing
