// flare-judge: get FILE PATH...: values out of a report, one a line. demo DIR: the demo's report and verdict.
#include <cstdio>
#include <exception>

#include "common/cli.h"
#include "judge/demo.h"
#include "judge/reports.h"

namespace flare::tools {
namespace {

const char* const kAbout =
    "flare-judge: reads reports of flare-serve and flare-storm.\n"
    "Exit: 0 all holds; 1 something does not; 2 usage, or a report that can't be read.";

DemoSide read_side(const std::string& folder, const std::string& name, std::int64_t serve_exit,
                   std::int64_t storm_exit) {
  DemoSide side;
  side.serve = read_report(folder + "/" + name + ".serve.json");
  side.storm = read_report(folder + "/" + name + ".storm.json");
  side.serve_exit = static_cast<int>(serve_exit);
  side.storm_exit = static_cast<int>(storm_exit);
  return side;
}

int print_demo(const DemoSide& off, const DemoSide& on, std::int64_t clients, std::int64_t workers) {
  std::fputs(demo_table("handoff off", off).c_str(), stdout);
  std::fputs(demo_table("handoff on", on).c_str(), stdout);
  int failed = 0;
  for (const DemoCheck& check : judge_demo(off, on, static_cast<int>(clients), static_cast<int>(workers))) {
    std::printf("  %s  %s\n", check.holds ? "ok    " : "FAILED", check.text.c_str());
    failed += check.holds ? 0 : 1;
  }
  return failed == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app(kAbout, "flare-judge");
  app.require_subcommand(1);
  std::string file, folder;
  std::vector<std::string> paths;
  std::int64_t clients = 8, workers = 4, off_serve = 0, on_serve = 0, off_storm = 0, on_storm = 0;
  CLI::App* get = app.add_subcommand("get", "Values out of a report");
  get->add_option("file", file, "A JSON report")->required();
  get->add_option("paths", paths, "As totals.accepted")->required();
  CLI::App* demo = app.add_subcommand("demo", "The demo's verdict");
  demo->add_option("folder", folder, "With {off,on}.{serve,storm}.json")->required();
  FlagSet flags(*demo, "");
  flags.whole("--clients", clients, 1, 20'000, "Clients of each server");
  flags.whole("--workers", workers, 1, 256, "Workers of each server");
  flags.whole("--off-serve-exit", off_serve, 0, 255, "Exit code");
  flags.whole("--on-serve-exit", on_serve, 0, 255, "Exit code");
  flags.whole("--off-storm-exit", off_storm, 0, 255, "Exit code");
  flags.whole("--on-storm-exit", on_storm, 0, 255, "Exit code");
  const int code = parse_command_line(app, argc, argv);
  if (code >= 0) return code;
  if (get->parsed()) {
    const Json report = read_report(file);
    for (const std::string& path : paths) std::printf("%s\n", value_at(report, path).c_str());
    return 0;
  }
  return print_demo(read_side(folder, "off", off_serve, off_storm), read_side(folder, "on", on_serve, on_storm),
                    clients, workers);
}

}  // namespace
}  // namespace flare::tools

int main(int argc, char** argv) {
  try {
    return flare::tools::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flare-judge: %s\n", error.what());
    return flare::tools::kExitUsage;
  }
}
