#include "engine/crash_trap.h"

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <string>

#include "engine/sanitizers.h"
#include "engine/schedule.h"

namespace flare::sim {

namespace {

// The schedule is abandoned like any other that failed: its fiber is left as it stands.
void on_terminate() {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) std::abort();
  if (std::current_exception() == nullptr) schedule->fail("terminate", "std::terminate was called");
  try {
    throw;
  } catch (const std::exception& error) {
    schedule->fail("terminate", std::string("an exception leaves its thread: ") + error.what());
  } catch (...) {
    schedule->fail("terminate", "an exception leaves its thread");
  }
}

#if !defined(FLARE_SIM_ASAN) && !defined(FLARE_SIM_TSAN)
constexpr std::size_t kStackSize = std::size_t{64} << 10;
char handler_stack[kStackSize];

void on_wild_access(int signal) {
  if (Schedule* schedule = Schedule::current()) schedule->fail("memory", "an access to no memory");
  ::signal(signal, SIG_DFL);  // not in a schedule: the access comes again and ends the process
}

void trap_wild_accesses() {
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = kStackSize;
  ::sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = on_wild_access;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;  // it is left without returning
  ::sigaction(SIGSEGV, &action, nullptr);
  ::sigaction(SIGBUS, &action, nullptr);
}
#else
void trap_wild_accesses() {}
#endif

}  // namespace

bool survives_misused_memory() {
#if defined(FLARE_SIM_ASAN) || defined(FLARE_SIM_TSAN)
  return false;
#else
  return true;
#endif
}

void trap_crashes() {
  static bool done = false;
  if (done) return;
  done = true;
  std::set_terminate(on_terminate);
  trap_wild_accesses();
}

}  // namespace flare::sim
