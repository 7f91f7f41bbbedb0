#include "serve/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace flare::tools {
namespace {

ShutdownReport worker(int id, int finished) {
  ShutdownReport report;
  report.worker = id;
  report.accepted = report.finished = finished;
  report.by_reason[0] = finished;
  return report;
}

// proves: C-TOOL-03
TEST(ServeExitCode, IsZeroWhenAllWasServed) {
  EXPECT_EQ(serve_exit_code({worker(0, 3), worker(1, 0)}), 0);
}

// proves: C-TOOL-03
TEST(ServeExitCode, TakesTheFirstThatApplies) {
  std::vector<ShutdownReport> reports = {worker(0, 3), worker(1, 2)};
  reports[0].accepted = 4;
  reports[0].cut = 1;
  EXPECT_EQ(serve_exit_code(reports), 3);
  reports[1].crashed = 1;
  EXPECT_EQ(serve_exit_code(reports), 4);
  reports[1].crashed = 0;
  reports[1].stuck = 1;
  EXPECT_EQ(serve_exit_code(reports), 4);
  reports[1].handed_out = 1;  // nobody received it
  EXPECT_EQ(serve_exit_code(reports), 1);
}

// proves: C-TOOL-02
TEST(ServeReport, SaysEveryCountAndTheirSums) {
  ServeResult result;
  result.workers = {worker(0, 3), worker(1, 2)};
  result.workers[0].handed_out = result.workers[1].received = 1;
  result.workers[0].accepted = 4;
  result.workers[1].finished = result.workers[1].by_reason[1] = 3;
  result.workers[1].error = "broken \xff text";
  result.fds_before = 5;
  result.fds_after = 6;
  const auto json = nlohmann::json::parse(serve_json(result));
  EXPECT_EQ(json.at("adds_up"), true);
  EXPECT_EQ(json.at("workers").size(), 2U);
  EXPECT_EQ(json.at("totals").at("accepted"), 6);
  EXPECT_EQ(json.at("totals").at("finished"), 6);
  EXPECT_EQ(json.at("workers").at(1).at("by_reason").at("peer_gone"), 3);
  EXPECT_EQ(json.at("fds_before"), 5);
  EXPECT_EQ(json.at("fds_after"), 6);
  EXPECT_NE(serve_table(result).find("holds for every worker"), std::string::npos);
  result.workers[0].cut = 1;
  EXPECT_NE(serve_table(result).find("DOES NOT HOLD"), std::string::npos);
}

// A reason that the runtime adds has a name here, too.
TEST(ServeReport, NamesEveryReason) {
  EXPECT_EQ(serve_json({}).find("\"other\""), std::string::npos);
}

}  // namespace
}  // namespace flare::tools
