// reactor.h: readiness events for one thread, on the system's poller.                 Public header.
// Threads:    wakeup: any thread. Everything else: the one thread that polls.
// Owns:       the poller; shares its Waker. Not the registered descriptors: unregister, then close.
// Bounds:     max_events per poll; one table slot for each registered descriptor.
// Errors:     throws NetworkError as each method says; a call that throws changed nothing.
// Ordering:   what happened before wakeup() is visible after the poll that reports it.
// Invariants: INV-10, INV-18, INV-20.
// Not here:   timers (timer/), connections (worker/).
// Source:     seeds, flare.runtime.reactor.
#pragma once

#include <cstdint>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/limits.h"
#include "flare/base/sync.h"
#include "flare/base/unique_fd.h"
#include "flare/kernel/kernel.h"
#include "flare/reactor/event.h"
#include "flare/reactor/registration_table.h"
#include "flare/reactor/waker.h"

namespace flare::inline FLARE_ABI {

class Reactor {
 public:
  Reactor();
  // Built on a Waker that others hold too. Throws NetworkError.
  explicit Reactor(Shared<Waker> waker);
  Reactor(Reactor&& other) noexcept;
  Reactor& operator=(Reactor&& other) noexcept;
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;
  ~Reactor();

  // Watches fd under token. Throws NetworkError: fd already registered, token is WAKEUP_TOKEN, interest is
  // not a non-empty set of INTEREST_READ | INTEREST_WRITE, or the system refused.
  void register_fd(int fd, std::uint64_t token, int interest);
  // The same with EPOLLEXCLUSIVE: of all reactors that watch fd so, one is woken. Never downgraded: where
  // exclusive is refused this throws. Wakes are exclusive, not balanced. Such a registration cannot be
  // modified.
  void register_exclusive(int fd, std::uint64_t token, int interest);
  // New interest for a registered fd; the token stays. A change to what is there already costs no system
  // call.
  void modify(int fd, int interest);
  void unregister(int fd);

  // Clears out, waits (ms: -1 for ever, 0 not at all), and fills out with at most max_events events.
  // Interrupted: 0. Throws NetworkError: max_events < 1, or the system's wait failed.
  int poll(int timeout_ms, std::vector<Event>& out, int max_events = limits::kDefaultMaxEvents);

  void wakeup() const noexcept;
  // For others to watch; the runtime itself never uses it as a number.
  int wake_fd() const noexcept;
  int registered_count() const noexcept;
  bool is_registered(int fd) const noexcept;
  // True while the event's registration stands. Ask before each half of an event is dispatched. Wakeups:
  // true.
  bool is_current(const Event& event) const noexcept;
  // The same, and the registration still wants this half (INTEREST_READ or INTEREST_WRITE).
  bool is_current(const Event& event, int half) const noexcept;

  // ... private part: the reactor's builder completes it.
};

}  // namespace flare::inline FLARE_ABI
