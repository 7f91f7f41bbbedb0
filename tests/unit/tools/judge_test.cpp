#include <gtest/gtest.h>

#include "judge/demo.h"
#include "judge/reports.h"

namespace flare::tools {
namespace {

Json worker(int id, int accepted, int received, int handed_out) {
  return {{"worker", id},
          {"accepted", accepted},
          {"received", received},
          {"handed_out", handed_out},
          {"requests", 100},
          {"finished", accepted + received - handed_out},
          {"cut", 0},
          {"left", 0}};
}

DemoSide side(int worst, double p99) {
  DemoSide made;
  const Json first = worker(0, 8, 0, 8 - worst), second = worker(1, 0, 8 - worst, 0);
  made.serve = {{"workers", {first, second}},
                {"totals", worker(0, 8, 8 - worst, 8 - worst)},
                {"adds_up", true},
                {"fds_before", 6},
                {"fds_after", 6}};
  made.storm = {{"worst_worker", worst},
                {"latency_us", {{"p99", p99}}},
                {"sent", 100},
                {"answered", 100},
                {"non_2xx", 0},
                {"clean", true},
                {"connected", 8},
                {"misplaced", 0},
                {"endings", {{"truncated", 0}, {"reset_outstanding", 0}}}};
  return made;
}

int failures(const DemoSide& off, const DemoSide& on) {
  int count = 0;
  for (const DemoCheck& check : judge_demo(off, on, 8, 2)) count += check.holds ? 0 : 1;
  return count;
}

TEST(Judge, PassesWhatHolds) {
  EXPECT_EQ(failures(side(8, 16000), side(4, 8000)), 0);
}

TEST(Judge, FailsWhatDoesNot) {
  const DemoSide off = side(8, 16000), on = side(4, 4000);
  EXPECT_EQ(failures(side(7, 16000), on), 1);
  EXPECT_EQ(failures(off, side(6, 4000)), 1);
  EXPECT_EQ(failures(off, side(4, 8001)), 1);
  DemoSide wrong = on;
  wrong.serve["workers"][0]["finished"] = 3;  // the server still says that it adds up
  EXPECT_EQ(failures(off, wrong), 1);
  wrong = on;
  wrong.serve["workers"][1]["received"] = 5;
  wrong.serve["workers"][1]["finished"] = 5;  // each worker's sum holds, but more was received than handed out
  EXPECT_EQ(failures(off, wrong), 1);
  wrong = on;
  wrong.serve["fds_after"] = 7;
  EXPECT_EQ(failures(off, wrong), 1);
  wrong = on;
  wrong.serve_exit = 3;
  EXPECT_EQ(failures(off, wrong), 1);
  wrong = on;
  wrong.storm["clean"] = false;
  EXPECT_EQ(failures(off, wrong), 1);
  wrong = on;
  wrong.storm["misplaced"] = 1;
  EXPECT_EQ(failures(off, wrong), 1);
}

TEST(Judge, AllowsAnEvenShareAndOneMore) {
  EXPECT_EQ(most_with_handoff(8, 4), 3);
  EXPECT_EQ(most_with_handoff(9, 4), 4);
  EXPECT_EQ(most_with_handoff(2, 4), 2);
}

TEST(Reports, FindsValuesByPath) {
  const Json report = {{"totals", {{"accepted", 5}}}, {"list", {1, 2}}, {"name", "x"}, {"workers", {{{"cut", 3}}}}};
  EXPECT_EQ(value_at(report, "totals.accepted"), "5");
  EXPECT_EQ(value_at(report, "list"), "1,2");
  EXPECT_EQ(value_at(report, "name"), "x");
  EXPECT_EQ(value_at(report, "workers.0.cut"), "3");
  for (const char* wrong : {"totals.nothing", "workers.1.cut", "list.x", "", "name.x"}) {
    EXPECT_THROW(value_at(report, wrong), std::runtime_error) << wrong;
  }
}

}  // namespace
}  // namespace flare::tools
