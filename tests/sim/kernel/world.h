// world.h: what a schedule's threads live in: the simulated kernel, and who may use which number.
// Threads:    threads of a schedule; reset on the host before each schedule.
// Owns:       the machine and the ledger.
// Ordering:   a scheduling point stands before each call on what several threads use.
// Source:     own design; VERIFICATION's ledger of descriptors.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/schedule.h"
#include "machine/machine.h"

namespace flare::sim {

struct WorldOptions {
  int descriptors = 64;  // the server's limit
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
  // A wake-up publishes what its thread did.
  void publish(int fd);
  void observe(int fd);
  // Before a call of a client.
  void enter_outside(int fd, Name call);

  // A client whose connection broke while it waited for accept.
  void lose_waiting_client(int listener);
  // The next epoll_wait fails with EBADF: how a worker is made to crash.
  void break_next_wait() { wait_breaks_ = true; }
  bool take_broken_wait() { return std::exchange(wait_breaks_, false); }
  // 0: no fault; else the error that this call shall give.
  int fault(Name call, std::span<const int> errors);
  // Descriptors of the server that are open now.
  int open_descriptors() const { return machine_.open_count(kServer); }
  unsigned live_connections() const { return machine_.live_connections(); }
  std::uint32_t calls() const { return calls_; }

 private:
  struct Record {
    SharedObject object;
    Epoch opened;
    VectorClock uses;
    VectorClock published;
  };
  Record& record(Process process, int fd);

  Machine machine_;
  std::vector<Record> records_;  // by the descriptor's description
  std::uint32_t calls_ = 0;
  bool wait_breaks_ = false;
};

}  // namespace flare::sim
