// The calls of the product on descriptors, over the machine.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "flare/kernel/epoll_bits.h"
#include "flare/kernel/system_kernel.h"
#include "kernel/calls.h"

namespace flare::inline FLARE_ABI {

using sim::in_machine;
using sim::kServer;
using sim::machine;
using sim::noted;
using sim::opening;
using sim::Schedule;
using sim::world;

namespace {

sim::SimTime deadline_of(int timeout_ms) {
  if (timeout_ms < 0) return sim::kEndOfTime;
  return Schedule::current()->now() + sim::SimTime{timeout_ms} * 1'000'000;
}

constexpr int kBatch = 64;

// A wait that ended with events, copied out.
Result<int> copy_events(const Result<int>& taken, const epoll_event* events, ReadyEvent* out) {
  if (!taken.ok()) return Result<int>::failure(taken.error());
  for (int i = 0; i < taken.value(); ++i) out[i] = ReadyEvent{events[i].data.u64, bits_of(events[i].events)};
  return Result<int>(taken.value());
}

// Asleep until there is something to take, or the deadline.
int sleep_in(int poller, epoll_event* events, int max, sim::SimTime deadline) {
  for (;;) {
    int waiter = in_machine([&](sim::Machine& m) { return m.begin_wait(kServer, poller).value(); });
    const bool woken = Schedule::current()->block(
        "epoll_wait",
        [](void* a) {
          const int one = *static_cast<int*>(a);
          return machine().woken(one) || machine().wait_has_ready(one);
        },
        &waiter, deadline);
    world().touch(kServer, poller, "epoll_wait");
    const int count = in_machine([&](sim::Machine& m) {
      const int taken = m.wait_take(waiter, events, max).value();
      m.end_wait(waiter);
      return taken;
    });
    if (count > 0 || !woken) return count;
  }
}

}  // namespace

Result<int> ModelKernel::poller_open() {
  return opening("epoll_create", sim::faults::kPollerErrors, [](sim::Machine& m) { return m.epoll_create(kServer); });
}

Status ModelKernel::poller_add(int poller, int fd, std::uint64_t key, unsigned interest, AddMode mode) {
  world().enter(poller, "epoll_ctl add");
  world().enter(fd, "epoll_ctl add");
  if (const int error = world().fault("epoll_ctl add", sim::faults::kAddErrors)) {
    return noted("epoll_ctl add", fd, Status{error});
  }
  const std::uint32_t events = events_of(interest, mode == AddMode::kExclusive);
  return noted("epoll_ctl add", fd, in_machine([&](sim::Machine& m) {
                 return m.epoll_ctl(kServer, poller, EPOLL_CTL_ADD, fd, events, key);
               }));
}

Status ModelKernel::poller_modify(int poller, int fd, std::uint64_t key, unsigned interest) {
  world().enter(poller, "epoll_ctl mod");
  world().enter(fd, "epoll_ctl mod");
  return noted("epoll_ctl mod", fd, in_machine([&](sim::Machine& m) {
                 return m.epoll_ctl(kServer, poller, EPOLL_CTL_MOD, fd, events_of(interest, false), key);
               }));
}

Status ModelKernel::poller_remove(int poller, int fd) {
  world().enter(poller, "epoll_ctl del");
  world().enter(fd, "epoll_ctl del");
  return noted("epoll_ctl del", fd,
               in_machine([&](sim::Machine& m) { return m.epoll_ctl(kServer, poller, EPOLL_CTL_DEL, fd, 0, 0); }));
}

Result<int> ModelKernel::poller_wait(int poller, ReadyEvent* out, int max, int timeout_ms) {
  world().enter(poller, "epoll_wait");
  Schedule& schedule = *Schedule::current();
  if (world().take_broken_wait()) return noted("epoll_wait", poller, Result<int>::failure(EBADF));
  if (const int error = world().fault("epoll_wait", sim::faults::kWaitErrors)) {
    return noted("epoll_wait", poller, Result<int>::failure(error));
  }
  epoll_event events[kBatch];
  const int most = std::min(max, kBatch);
  Result<int> taken = in_machine([&](sim::Machine& m) { return m.epoll_take(kServer, poller, events, most); });
  if (taken.ok() && taken.value() == 0 && timeout_ms != 0 &&
      schedule.choose(2, sim::ChoiceKind::kCalm, "epoll_wait: no event") == 0) {
    schedule.note("epoll_wait begins", poller, timeout_ms);
    taken = Result<int>(sleep_in(poller, events, most, deadline_of(timeout_ms)));
  }
  return noted("epoll_wait", poller, copy_events(taken, events, out));
}

Result<int> ModelKernel::wake_open() {
  return opening("eventfd", sim::faults::kWakeErrors,
                 [](sim::Machine& m) { return m.eventfd(kServer, 0, EFD_NONBLOCK | EFD_CLOEXEC); });
}

Status ModelKernel::wake_signal(int fd) {
  world().enter(fd, "eventfd write");
  if (const int error = world().fault("eventfd write", sim::faults::kSignalErrors)) {
    return noted("eventfd write", fd, Status{error});
  }
  world().publish(fd);
  return noted("eventfd write", fd, in_machine([&](sim::Machine& m) { return m.eventfd_write(kServer, fd, 1); }));
}

Status ModelKernel::wake_clear(int fd) {
  world().enter(fd, "eventfd read");
  if (const int error = world().fault("eventfd read", sim::faults::kClearErrors)) {
    return noted("eventfd read", fd, Status{error});
  }
  world().observe(fd);
  return noted("eventfd read", fd,
               in_machine([&](sim::Machine& m) { return Status{m.eventfd_read(kServer, fd).error()}; }));
}

Result<bool> ModelKernel::wait_readable(int fd, int timeout_ms) {
  world().enter(fd, "poll", false);
  Schedule& schedule = *Schedule::current();
  if (const int error = world().fault("poll", sim::faults::kPollErrors)) {
    return noted("poll", fd, Result<bool>::failure(error));
  }
  const auto ready = [](void* a) {
    return (machine().poll_bits(kServer, *static_cast<int*>(a)).value() & POLLIN) != 0;
  };
  bool readable = ready(&fd);
  if (!readable && timeout_ms != 0) readable = schedule.block("poll", ready, &fd, deadline_of(timeout_ms));
  world().touch(kServer, fd, "poll");
  if (readable) world().observe(fd);
  return noted("poll", fd, Result<bool>(readable));
}

}  // namespace flare::inline FLARE_ABI
