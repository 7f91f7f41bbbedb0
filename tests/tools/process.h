// process.h: a program under test: started with arguments and environment, its output kept, ended by signals.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace flare::testing {

class Process {
 public:
  // environment: NAME=value, added to this process's own. Aborts when the program can't be started at all.
  explicit Process(std::vector<std::string> command, std::vector<std::string> environment = {});
  ~Process();  // kills what still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::string out() const;
  std::string err() const;
  void signal(int number) const;
  bool running();
  // The exit code; -1 when it did not end in time (it is killed then) or was ended by a signal.
  int finish(std::chrono::milliseconds deadline = std::chrono::seconds(30));

 private:
  bool reap();

  int out_ = -1, err_ = -1;  // memory files
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

struct Finished {
  int code;
  std::string out, err;
};
// Runs it to its end.
Finished run(std::vector<std::string> command, std::vector<std::string> environment = {});

// A flare-serve that listens on a free port of loopback.
class Server {
 public:
  explicit Server(std::vector<std::string> arguments, std::vector<std::string> environment = {});
  const std::string& address() const { return address_; }  // empty when it did not start
  Process& process() { return process_; }

 private:
  Process process_;
  std::string address_;
};

}  // namespace flare::testing
