// world.h: what a schedule's threads live in: the simulated kernel, and who may use which number.
// Threads:    threads of a schedule; reset on the host before each schedule.
// Owns:       the machine and the ledger.
// Ordering:   a scheduling point stands before each call on what several threads use.
// Source:     own design.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "engine/schedule.h"
#include "machine/machine.h"

namespace flare::sim {

struct WorldOptions {
  int descriptors = 64;  // the server's limit
  // Each number that the server gives back is a stranger's at once, of the same process. Whoever closes a number that
  // another thread may still use is not told so: its theft must show.
  bool strangers = false;
  bool waiters_stay = false;  // as before Linux 5.7: Machine::set_waiters_stay
};

class World final : public Chooser {
 public:
  World();
  static World& current();

  // Host, before each schedule.
  void reset(const WorldOptions& options);

  Machine& machine() { return machine_; }
  unsigned choose(unsigned options, const char* what) override;

  // Before a call of the server on fd: the ledger, and a scheduling point where another thread may see the call.
  void enter(int fd, Name call, bool writes = true);
  // Who got a new descriptor, and who gives one back.
  void opened(int fd, Name call);
  void closing(int fd);
  void closed();
  // A wake-up publishes what its thread did.
  void publish(int fd);
  void observe(int fd);
  // Before a call of a client.
  void enter_outside(int fd, Name call);

  // A client whose connection broke while it waited for accept.
  void lose_waiting_client(int listener);
  // The running thread's next epoll_wait, or accept, fails with EBADF: how a worker is made to crash.
  void break_next_wait() { breaks_wait_of_ = Schedule::current()->thread(); }
  void break_next_accept() { breaks_accept_of_ = Schedule::current()->thread(); }
  bool take_broken_wait() { return take_break(breaks_wait_of_); }
  bool take_broken_accept() { return take_break(breaks_accept_of_); }
  // 0: no fault; else the error that this call shall give.
  int fault(Name call, std::span<const int> errors);
  // Descriptors of the server that are open now.
  int open_descriptors() const { return machine_.open_count(kServer) - strangers_; }
  unsigned live_connections() const { return machine_.live_connections(); }
  int faults() const { return faults_; }

  // Which number an open descriptor has is no part of a history: the ledger finds a number that somebody should not use
  // whether it was given to another meanwhile or not, so schedules that differ in numbers alone are alike.
  // Histories: the call may change, or find changed, whatever of the machine is related to fd (before and after it).
  void touch(Process process, int fd, Name call);
  void touch_listeners(Name call);
  void touch_names(Name call) { Schedule::current()->touch(names_, true, call); }

 private:
  struct Record {
    SharedObject object;
    Epoch opened;
    VectorClock uses;
    VectorClock published;
  };
  Record& record(Process process, int fd);
  static bool take_break(int& thread) {
    if (thread != Schedule::current()->thread()) return false;
    thread = -1;
    return true;
  }

  void touch_related(Name call);

  Machine machine_;
  // By the descriptor's description. A deque: a thread waits at a scheduling point of a record while others add some.
  std::deque<Record> records_;
  std::vector<SharedObject> histories_;  // by the machine's keys
  RelatedObjects related_;
  SharedObject names_;
  int faults_ = 0;
  WorldOptions options_;
  int strangers_ = 0;
  int breaks_wait_of_ = -1;
  int breaks_accept_of_ = -1;
};

}  // namespace flare::sim
