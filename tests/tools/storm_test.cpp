// flare-storm against flare-serve: what it measures is what was done.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "judge/reports.h"
#include "process.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

using tools::Json;

Json storm(const Server& server, std::vector<std::string> arguments, int expected = 0) {
  arguments.insert(arguments.begin(), {FLARE_STORM, server.address(), "--json", "-", "--seed", "11"});
  const Finished end = run(arguments);
  EXPECT_EQ(end.code, expected) << end.err;
  return end.out.empty() ? Json() : Json::parse(end.out);
}

// proves: C-TOOL-05
TEST(Storm, FindsPortsOfEachWorker) {
  Server server({"--workers", "3", "--listeners", "per-worker", "--worker-headers", "--handoff", "off"});
  ASSERT_NE(server.address(), "");
  for (const char* worker : {"0", "1", "2"}) {
    const Json report = storm(server, {"--pin-worker", worker, "--connections", "5", "--requests-per-client", "1"});
    EXPECT_EQ(report.at("misplaced"), 0);
    EXPECT_EQ(report.at("by_acceptor").at(static_cast<std::size_t>(std::stoi(worker))), 5);
    EXPECT_EQ(report.at("worst_worker"), 5);
  }
  const Json spread = storm(server, {"--spread", "50,30,20", "--connections", "20", "--requests-per-client", "1"});
  EXPECT_EQ(spread.at("by_acceptor"), Json({10, 6, 4}));
}

// One client, one answer in 50 ms, one request due every 10 ms: the n-th answer can't come before 50 n ms and was due
// at 10 (n - 1) ms. Counted from the sending, each would have taken its own 50 ms only.
// proves: C-TOOL-05
TEST(Storm, LatencyAtARateIsCountedFromTheIntendedTime) {
  Server server({"--workers", "1", "--handler", "sleep", "--handler-us", "50000"});
  ASSERT_NE(server.address(), "");
  const Json report = storm(server, {"--connections", "1", "--rate", "100", "--requests", "21"});
  EXPECT_EQ(report.at("answered"), 21);
  const Json& latency = report.at("latency_us");
  EXPECT_GE(latency.at("p50").get<double>(), 50'000.0 * 11 - 10'000.0 * 10);
  EXPECT_GE(latency.at("max").get<double>(), 50'000.0 * 21 - 10'000.0 * 20);
}

// proves: C-TOOL-05
TEST(Storm, SaysWhatItNeedsToPin) {
  Server server({"--workers", "1"});
  const Finished end = run({FLARE_STORM, server.address(), "--pin-worker", "0"});
  EXPECT_EQ(end.code, 2);
  EXPECT_NE(end.err.find("X-Flare-Accepted-By"), std::string::npos) << end.err;
}

TEST(Storm, CountsEveryRequestOnce) {
  Server server({"--workers", "2"});
  for (const char* mode : {"keep-alive", "per-request", "slow"}) {
    const Json report = storm(server, {"--mode", mode, "--connections", "4", "--requests", "40"});
    EXPECT_EQ(report.at("sent"), 40) << mode;
    EXPECT_EQ(report.at("ok"), 40) << mode;
    EXPECT_EQ(report.at("clean"), true) << mode;
  }
  const Json resets = storm(server, {"--mode", "reset", "--connections", "4", "--requests", "40"});
  EXPECT_EQ(resets.at("sent"), 40);
  EXPECT_EQ(resets.at("endings").at("closed_by_us"), resets.at("opened"));
  server.process().signal(SIGTERM);
  EXPECT_EQ(server.process().finish(), 0) << server.process().err();
  EXPECT_EQ(Json::parse(server.process().out()).at("adds_up"), true);
}

// Connections of the IPv4 server at address that hold bytes which their clients have not taken yet.
int connections_with_unsent(const std::string& address) {
  const std::size_t colon = address.find(':');
  in_addr ip{};
  EXPECT_EQ(::inet_pton(AF_INET, address.substr(0, colon).c_str(), &ip), 1) << address;
  const auto port = static_cast<unsigned>(std::stoul(address.substr(colon + 1)));
  char local[32];
  std::snprintf(local, sizeof local, "%08X:%04X", ip.s_addr, port);
  std::ifstream table("/proc/net/tcp");
  int found = 0;
  std::string number, from, to, state, queues, rest;
  std::getline(table, rest);
  while (table >> number >> from >> to >> state >> queues && std::getline(table, rest)) {
    if (from == local && state == "01" && !queues.starts_with("00000000")) ++found;
  }
  return found;
}

// A cut server is what --expect-clean is for: the drain timeout 0 ends connections in the middle of answers.
TEST(Storm, SeesTruncatedAnswers) {
  Server server({"--workers", "1", "--handler", "big", "--body-bytes", "1000000000", "--drain-timeout-ms", "0"});
  Process load({FLARE_STORM, server.address(), "--connections", "2", "--mode", "slow", "--expect-clean", "--json", "-",
                "--duration-ms", "20000", "--slow-step-ms", "1", "--slow-bytes", "65536", "--timeout-ms", "60000"});
  ASSERT_TRUE(wait_until([&] { return connections_with_unsent(server.address()) == 2; }));
  server.process().signal(SIGTERM);
  EXPECT_EQ(server.process().finish(), 3) << server.process().err();
  EXPECT_EQ(load.finish(), 1) << load.err();
}

TEST(Storm, RefusedIsNoErrorOfItsOwn) {
  std::string address;
  {
    Server server({"--workers", "1"});
    address = server.address();
    server.process().signal(SIGTERM);
    EXPECT_EQ(server.process().finish(), 0);
  }
  const Finished end = run({FLARE_STORM, address, "--connections", "3", "--expect-clean", "--json", "-"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(Json::parse(end.out).at("endings").at("connect_refused"), 3);
}

// Its lines say as it runs what the report says at the end.
TEST(Storm, WritesFiguresAsItRuns) {
  Server server({"--workers", "1", "--handler", "sleep", "--handler-us", "5000"});
  ASSERT_NE(server.address(), "");
  const std::string file = ::testing::TempDir() + "storm_live_" + std::to_string(::getpid());
  const Json report = storm(
      server, {"--connections", "1", "--requests", "40", "--stats-file", file, "--stats-interval-ms", "50", "--quiet"});
  std::ifstream lines(file);
  std::uint64_t count = 0, below = 0, rows = 0;
  Json last;
  for (std::string text; std::getline(lines, text); ++rows) {
    last = Json::parse(text);
    count += last.at("count").get<std::uint64_t>();
    for (const Json& cell : last.at("below_us")) {
      below += cell.at(1).get<std::uint64_t>();
      EXPECT_GT(cell.at(0), 5000);  // no answer came sooner
    }
  }
  EXPECT_GT(rows, 1U);
  EXPECT_EQ(count, 40U);
  EXPECT_EQ(below, 40U);
  EXPECT_EQ(last.at("answered"), report.at("answered"));
  ::unlink(file.c_str());
}

TEST(Storm, FileOfFiguresThatCannotBeOpened) {
  const Finished end = run({FLARE_STORM, "127.0.0.1:1", "--stats-file", "/nonexistent/live"});
  EXPECT_EQ(end.code, 2);
  EXPECT_NE(end.err.find("--stats-file: '/nonexistent/live'"), std::string::npos) << end.err;
}

}  // namespace
}  // namespace flare::testing
