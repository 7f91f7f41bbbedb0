// calls.h: what every call of the simulated kernel does around the machine: faults, ledger, trace.
// Threads:    threads of a schedule.
#pragma once

#include <utility>

#include "engine/arena.h"
#include "engine/schedule.h"
#include "flare/base/result.h"
#include "kernel/faults.h"
#include "kernel/world.h"

namespace flare::sim {

inline World& world() {
  return World::current();
}
inline Machine& machine() {
  return World::current().machine();
}

// The machine's memory outlives the schedule.
template <class Call>
auto in_machine(Call&& call) {
  const HostScope host;
  return call(machine());
}

inline Status noted(Name call, int fd, Status status) {
  Schedule::current()->note(call, fd, -status.error);
  return status;
}

template <class T>
Result<T> noted(Name call, int fd, Result<T> result) {
  const std::int64_t value = result.ok() ? static_cast<std::int64_t>(result.value()) : -std::int64_t{result.error()};
  Schedule::current()->note(call, fd, value);
  return result;
}

// A call that makes a descriptor of the server.
template <class Call>
Result<int> opening(Name name, std::span<const int> errors, Call&& call) {
  Schedule::current()->step();
  if (const int error = world().fault(name, errors)) return noted(name, -1, Result<int>::failure(error));
  Result<int> made = in_machine(call);
  if (!made.ok()) return noted(name, -1, std::move(made));
  world().opened(made.value(), name);
  return made;
}

}  // namespace flare::sim
