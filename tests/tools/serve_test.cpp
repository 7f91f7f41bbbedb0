// flare-serve under load: what it says, how it drains, what it reports, how it leaves.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "judge/reports.h"
#include "process.h"
#include "storm/connection.h"
#include "support/own_loopback.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

using tools::Json;

// A connection of our own to the server, blocking.
tools::Socket connect_to(const Server& server) {
  tools::Target target;
  EXPECT_EQ(tools::Target::parse(server.address(), target), "");
  int error = 0;
  tools::Socket socket = tools::start_connect(target, {}, error);
  EXPECT_EQ(error, 0);
  EXPECT_TRUE(wait_until([&]() { return ::send(socket.fd(), "", 0, MSG_NOSIGNAL) == 0; }));
  return socket;
}
bool send_all(const tools::Socket& socket, const std::string& text) {
  return ::send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Connections that all workers hold, by the last whole line of live figures; -1: there is none.
int last_live(const std::string& text) {
  const std::size_t end = text.rfind("}\n");
  const std::size_t from = end == std::string::npos ? end : text.rfind("{\"t_ms\"", end);
  if (from == std::string::npos) return -1;
  const Json line = Json::parse(text.substr(from, end + 1 - from));
  int live = 0;
  for (const Json& one : line.at("live")) live += one.get<int>();
  return live;
}

class ServeBothWays : public ::testing::TestWithParam<const char*> {};

// proves: C-TOOL-02, C-TOOL-03
// CLAIM: the report of a drain under load adds up, nothing is cut, no answer is truncated, no descriptor stays.
TEST_P(ServeBothWays, DrainsUnderLoadAndReports) {
  Server server(
      {"--workers", "2", "--listeners", GetParam(), "--worker-headers", "--handoff", "on", "--stats-interval-ms", "5"});
  ASSERT_NE(server.address(), "");
  Process storm({FLARE_STORM, server.address(), "--connections", "16", "--duration-ms", "20000", "--seed", "7",
                 "--expect-clean", "--json", "-"});
  ASSERT_TRUE(wait_until([&]() { return last_live(server.process().err()) == 16; })) << server.process().err();
  server.process().signal(SIGTERM);
  EXPECT_EQ(server.process().finish(), 0) << server.process().err();
  EXPECT_EQ(storm.finish(), 0) << storm.err();
  const Json report = Json::parse(server.process().out());
  EXPECT_EQ(report.at("adds_up"), true);
  EXPECT_EQ(report.at("exit_code"), 0);
  EXPECT_EQ(report.at("totals").at("cut"), 0);
  EXPECT_EQ(report.at("fds_before"), report.at("fds_after"));
  EXPECT_EQ(report.at("totals").at("accepted"), 16);
  const Json load = Json::parse(storm.out());
  EXPECT_EQ(load.at("endings").at("truncated"), 0);
  EXPECT_EQ(load.at("endings").at("timeout"), 0);
}
INSTANTIATE_TEST_SUITE_P(Listeners, ServeBothWays, ::testing::Values("per-worker", "shared"), [](const auto& strategy) {
  return std::string(strategy.param) == "shared" ? "Shared" : "PerWorker";
});

// proves: C-TOOL-02, C-TOOL-03
TEST(Serve, SecondSignalCuts) {
  Server server({"--workers", "1", "--drain-timeout-ms", "60000"});
  ASSERT_NE(server.address(), "");
  // A request of which a part was read holds the drain up until its deadline.
  tools::Socket socket = connect_to(server);
  ASSERT_TRUE(send_all(socket, "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTT"));
  char first = 0;
  ASSERT_TRUE(wait_until([&]() { return ::recv(socket.fd(), &first, 1, 0) == 1; }));
  server.process().signal(SIGTERM);
  ASSERT_TRUE(wait_until([&]() { return server.process().err().find("draining\n") != std::string::npos; }));
  EXPECT_TRUE(server.process().running());
  server.process().signal(SIGTERM);
  EXPECT_EQ(server.process().finish(), 3) << server.process().err();
  const Json report = Json::parse(server.process().out());
  EXPECT_EQ(report.at("totals").at("cut"), 1);
  EXPECT_EQ(report.at("adds_up"), true);
}

// proves: C-TOOL-03
TEST(Serve, StuckWorkerIsExitFour) {
  Server server({"--workers", "1", "--handler", "sleep", "--handler-us", "20000000", "--drain-timeout-ms", "100"});
  ASSERT_NE(server.address(), "");
  tools::Socket socket = connect_to(server);
  ASSERT_TRUE(send_all(socket, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  // The worker has taken the request when nothing of it waits on our side and the kernel has delivered it; the drain
  // finds it in the handler, or in the socket, which it must then read: both end stuck.
  server.process().signal(SIGTERM);
  EXPECT_EQ(server.process().finish(std::chrono::seconds(10)), 4) << server.process().err();
  const Json report = Json::parse(server.process().out());
  EXPECT_EQ(report.at("totals").at("stuck"), 1);
  EXPECT_EQ(report.at("adds_up"), true);
}

// proves: C-TOOL-02
TEST(Serve, SigintDrainsAndTheReportIsATableUnlessAskedOtherwise) {
  Process process({FLARE_SERVE, "--address", "127.0.0.1:0", "--workers", "2"});
  ASSERT_TRUE(wait_until([&]() { return process.err().find("listening on ") != std::string::npos; }));
  process.signal(SIGINT);
  EXPECT_EQ(process.finish(), 0) << process.err();
  EXPECT_EQ(process.out().rfind("worker  accepted  received ", 0), 0U) << process.out();
  EXPECT_NE(process.out().find("\ntotal "), std::string::npos) << process.out();
  EXPECT_NE(process.out().find("accepted + received = finished + handed_out + cut + left: holds for every worker\n"),
            std::string::npos)
      << process.out();
}

// Who waits for the addresses has seen all that is in force; each address is one that a client can use.
// proves: C-TOOL-01
TEST(Serve, SaysWhatIsInForceAndThenTheAddressesThatItReallyBound) {
  Process process({FLARE_SERVE, "--address", "127.0.0.1:0,127.0.0.2:0", "--workers", "2", "--handler", "echo"});
  const std::string mark = "listening on ";
  ASSERT_TRUE(wait_until([&]() {
    const std::size_t second = process.err().find(mark + "127.0.0.2:");
    return second != std::string::npos && process.err().find('\n', second) != std::string::npos;
  })) << process.err();
  const std::string said = process.err();
  for (const char* line : {"descriptors: ", "workers: 2", "listeners: ", "handoff: ", "handler: echo\n",
                           "connections: ", "drain timeout: "}) {
    EXPECT_LT(said.find(line), said.find(mark)) << line << ": " << said;
  }
  for (std::size_t at = said.find(mark); at != std::string::npos; at = said.find(mark, at + 1)) {
    const std::size_t from = at + mark.size();
    tools::Target target;
    EXPECT_EQ(tools::Target::parse(said.substr(from, said.find('\n', at) - from), target), "") << said;
    int error = 0;
    const tools::Socket socket = tools::start_connect(target, {}, error);
    ASSERT_EQ(error, 0);
    EXPECT_TRUE(wait_until([&]() { return ::send(socket.fd(), "", 0, MSG_NOSIGNAL) == 0; }));
    EXPECT_TRUE(send_all(socket, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    char first = 0;
    EXPECT_TRUE(wait_until([&]() { return ::recv(socket.fd(), &first, 1, 0) == 1; }));
  }
}

// A full pipe as stderr keeps the server from saying anything: so long, a client of its fixed port gets no answer.
// proves: C-TOOL-01
TEST(Serve, ServesNobodyBeforeItHasSaidWhereItListens) {
  const std::string pipe = ::testing::TempDir() + "flare-serve-" + std::to_string(::getpid()) + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int fd = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::string filling(4096, '#');
  while (::write(fd, filling.data(), filling.size()) > 0) {
  }
  tools::Target target;
  ASSERT_EQ(tools::Target::parse(own_loopback(20080).to_string(), target), "");
  Process process(
      {"/bin/sh", "-c", "exec \"$@\" 2>" + pipe, "sh", FLARE_SERVE, "--address", target.text, "--workers", "1"});
  tools::Socket socket;
  ASSERT_TRUE(wait_until([&]() {
    int error = 0;
    socket = tools::start_connect(target, {}, error);
    return error == 0 &&
           wait_until([&]() { return ::send(socket.fd(), "", 0, MSG_NOSIGNAL) == 0; }, std::chrono::milliseconds(20));
  }));
  ASSERT_TRUE(send_all(socket, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  char first = 0;
  const auto answered = [&]() { return ::recv(socket.fd(), &first, 1, 0) == 1; };
  EXPECT_FALSE(wait_until(answered, std::chrono::milliseconds(300)));
  std::string said;
  EXPECT_TRUE(wait_until([&]() {
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof(buffer))) > 0;)
      said.append(buffer, static_cast<std::size_t>(got));
    return said.find("listening on " + target.text + "\n") != std::string::npos;
  })) << said;
  EXPECT_TRUE(wait_until(answered));
  ::close(fd);
  ::unlink(pipe.c_str());
}

// proves: C-TOOL-02
TEST(Serve, FullDiskKeepsTheReportOnStdout) {
  Server server({"--workers", "1", "--report-file", "/dev/full"});
  ASSERT_NE(server.address(), "");
  server.process().signal(SIGINT);
  EXPECT_EQ(server.process().finish(), 0);
  EXPECT_NE(server.process().err().find("--report-file: '/dev/full' can't be written: No space left"),
            std::string::npos)
      << server.process().err();
  EXPECT_EQ(Json::parse(server.process().out()).at("adds_up"), true);
}

// proves: C-TOOL-04
TEST(Serve, FlagWinsOverFileOverEnvironment) {
  const std::string path = ::testing::TempDir() + "flare-serve-order-" + std::to_string(::getpid()) + ".conf";
  std::ofstream(path) << "handoff-capacity=7\nhandoff-threshold=9\nhandoff=on\ndrain-timeout-ms=777\n";
  Server server({"--config", path, "--handoff-threshold", "5"},
                {"FLARE_SERVE_WORKERS=3", "FLARE_SERVE_HANDOFF_CAPACITY=8"});
  ::unlink(path.c_str());
  const std::string said = server.process().err();
  EXPECT_NE(said.find("workers: 3"), std::string::npos) << said;
  EXPECT_NE(said.find("handoff: on, threshold 5, capacity 7\n"), std::string::npos) << said;
  EXPECT_NE(said.find("drain timeout: 777 ms"), std::string::npos) << said;
  EXPECT_NE(said.find("descriptors: "), std::string::npos) << said;
}

// proves: C-TOOL-01, C-TOOL-04
TEST(Serve, SwitchOfTheEnvironmentIsInForceAndReportedWhenItIsNotUnderstood) {
  Server on({"--workers", "1"}, {"FLARE_SOAK_WORKERS=on"});
  EXPECT_NE(on.process().err().find("handoff: on, threshold 1,"), std::string::npos) << on.process().err();
  Server off({"--workers", "1", "--handoff", "off"}, {"FLARE_SOAK_WORKERS=on"});
  EXPECT_NE(off.process().err().find("handoff: off"), std::string::npos) << off.process().err();
  Server odd({"--workers", "1"}, {"FLARE_SOAK_WORKERS=perhaps"});
  EXPECT_NE(odd.process().err().find("perhaps"), std::string::npos) << odd.process().err();
  EXPECT_NE(odd.process().err().find("handoff: off"), std::string::npos) << odd.process().err();
}

}  // namespace
}  // namespace flare::testing
