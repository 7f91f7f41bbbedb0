#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "support/own_loopback.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

std::string content_of(int fd) {
  std::string text;
  char buffer[4096];
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(fd, buffer, sizeof(buffer), at);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    at += got;
  }
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& one : strings) list.push_back(one.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Process::Process(std::vector<std::string> command, std::vector<std::string> environment)
    : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out_, 1);
  ::posix_spawn_file_actions_adddup2(&actions, err_, 2);
  std::vector<char*> arguments = pointers(command);
  std::vector<char*> variables = pointers(environment);
  const int error = ::posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    std::fprintf(stderr, "can't start '%s': error %d\n", arguments[0], error);
    std::abort();
  }
}

Process::~Process() {
  if (!reap()) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
  ::close(out_);
  ::close(err_);
}

std::string Process::out() const {
  return content_of(out_);
}
std::string Process::err() const {
  return content_of(err_);
}
void Process::signal(int number) const {
  ::kill(pid_, number);
}
bool Process::running() {
  return !reap();
}

bool Process::reap() {
  if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

int Process::finish(std::chrono::milliseconds deadline) {
  if (!wait_until([this]() { return reap(); }, deadline)) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
    ended_ = true;
    return -1;
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

Finished run(std::vector<std::string> command, std::vector<std::string> environment) {
  Process process(std::move(command), std::move(environment));
  const int code = process.finish();
  return {code, process.out(), process.err()};
}

namespace {

std::vector<std::string> serve_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {FLARE_SERVE, "--address", own_loopback().to_string(), "--report", "json"});
  return arguments;
}

// The address of a whole line "listening on ADDRESS".
std::string listening_on(const std::string& text) {
  const std::string mark = "listening on ";
  const std::size_t at = text.find(mark);
  const std::size_t end = at == std::string::npos ? at : text.find('\n', at);
  return end == std::string::npos ? std::string() : text.substr(at + mark.size(), end - at - mark.size());
}

}  // namespace

Server::Server(std::vector<std::string> arguments, std::vector<std::string> environment)
    : process_(serve_command(std::move(arguments)), std::move(environment)) {
  wait_until([this]() { return !(address_ = listening_on(process_.err())).empty() || !process_.running(); });
  if (address_.empty()) std::fprintf(stderr, "the server did not start:\n%s", process_.err().c_str());
}

}  // namespace flare::testing
