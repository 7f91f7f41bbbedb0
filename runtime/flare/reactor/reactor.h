// reactor.h: readiness events for one thread, on the system's poller.                 Public header.
// Threads:    wakeup: any thread. Everything else: the one thread that polls.
// Owns:       the poller; shares its Waker. Not the registered descriptors: unregister or forget, then close.
// Bounds:     max_events per poll, limits::kMaxPollEvents at most; one table slot for each registered descriptor.
// Errors:     throws NetworkError as each method says; a call that throws changed nothing, but poll clears its output
//             and unregister forgets a descriptor that is gone. A moved-from Reactor can only be destroyed or assigned.
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

  // Watches fd under token. Throws NetworkError: fd already registered (EEXIST), token is WAKEUP_TOKEN or interest not
  // a non-empty set of INTEREST_READ | INTEREST_WRITE (EINVAL), or the system refused.
  void register_fd(int fd, std::uint64_t token, int interest);
  // The same with EPOLLEXCLUSIVE: of all reactors that watch fd so, one is woken. Never downgraded: where exclusive is
  // refused this throws. Wakes are exclusive, not balanced. Such a registration cannot be modified.
  void register_exclusive(int fd, std::uint64_t token, int interest);
  // New interest for a registered fd; the token stays. A change to what is there already costs no system call.
  // Throws NetworkError: not registered (ENOENT), bad interest or registered exclusively (EINVAL), the system refused.
  void modify(int fd, int interest);
  // Throws NetworkError: not registered (ENOENT), or fd was closed before it was unregistered (EBADF, ENOENT, EINVAL).
  // In the second case the registration is gone all the same.
  void unregister(int fd);
  // As unregister, for an fd that this thread closes next: without a system call, as a rule, since the close takes the
  // watch away. A duplicate keeps it: its events are stale, and until the set was made anew the same file under the
  // same number can't be registered (EEXIST). False: fd is not registered.
  bool forget(int fd) noexcept;
  // Opens the descriptor that forget wants to have for that case, which else the first one does; it may fail.
  void prepare_to_forget() noexcept { static_cast<void>(may_leave_watches()); }

  // Clears out, waits (ms: below 0 for ever, 0 not at all), and fills out with at most max_events events; it may
  // return 0 before the time is over. Interrupted: 0. Throws NetworkError: max_events < 1, or the system's wait failed.
  int poll(int timeout_ms, std::vector<Event>& out, int max_events = limits::kDefaultMaxEvents);

  void wakeup() const noexcept;
  // For others to watch; the runtime itself never uses it as a number.
  int wake_fd() const noexcept;
  int registered_count() const noexcept;
  bool is_registered(int fd) const noexcept;
  // True while the event's registration stands, across modify and a move of the reactor. Ask before each half of an
  // event is dispatched. Wakeups of this reactor: true. Events of another one, or default-constructed: false.
  bool is_current(const Event& event) const noexcept {
    const RegistrationId& id = event.registration();
    return id.reactor == id_ && (id.slot == RegistrationTable::kNoSlot || current(id) != nullptr);
  }
  // The same, and the registration still wants this half (INTEREST_READ or INTEREST_WRITE). A wakeup is a read.
  bool is_current(const Event& event, int half) const noexcept;

 private:
  void add(int fd, std::uint64_t token, int interest, bool exclusive, const char* operation);
  const Registration* current(const RegistrationId& id) const noexcept {
    return table_.current(RegistrationTable::make_key(static_cast<std::uint32_t>(id.generation), id.slot));
  }
  bool may_leave_watches() noexcept;
  bool fired_before(std::uint64_t stale_key);
  int watched(const Registration& entry, std::uint64_t key) const;
  void rebuild();

  // Constant after construction.
  std::uint64_t id_;  // random: no other reactor's, and it moves with the registrations
  Shared<Waker> waker_;
  // The polling thread's.
  UniqueFd poller_;
  RegistrationTable table_;
  std::vector<ReadyEvent> ready_;          // what the system said; kept, so that a poll does not allocate
  std::vector<std::uint64_t> stale_keys_;  // fired once without a registration, see poll
  UniqueFd spare_;                         // a poller for the rebuild that a forgotten watch may call for
  bool careful_ = false;                   // there was one: forgotten watches are taken out by a call from then on
};

}  // namespace flare::inline FLARE_ABI
