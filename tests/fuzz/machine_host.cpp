// The simulated kernel's descriptors, and the same kernel as the product's: without a schedule, since a tape is one
// thread, and so without the ledger, since a tape uses numbers that it has closed.
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "dispatch_host.h"
#include "engine/mutants.h"
#include "flare/kernel/epoll_bits.h"
#include "flare/kernel/system_kernel.h"
#include "machine/machine.h"

namespace flare::fuzz::host {

namespace {

class TapeChooser final : public sim::Chooser {
 public:
  unsigned choose(unsigned options, const char* /*what*/) override { return next % options; }
  unsigned next = 0;
};

// A planted defect of the product, so that everybody can see the target find one.
sim::Mutant chosen_mutant() {
  const char* name = std::getenv("FLARE_FUZZ_MUTANT");
  if (name == nullptr) return sim::Mutant::kOff;
  const std::string_view wanted = name;
  if (wanted == "kGenerationIgnored") return sim::Mutant::kGenerationIgnored;
  if (wanted == "kUnregisterRemembers") return sim::Mutant::kUnregisterRemembers;
  if (wanted == "kEventsKept") return sim::Mutant::kEventsKept;
  if (wanted == "kWakeNeverCleared") return sim::Mutant::kWakeNeverCleared;
  std::fprintf(stderr, "FLARE_FUZZ_MUTANT: no defect of the reactor is named '%s'\n", name);
  std::exit(2);
}

struct World {
  World() { sim::active_mutant = chosen_mutant(); }

  TapeChooser chooser;
  sim::Machine machine{chooser};
  std::uint64_t random = 0;
};

World& world() {
  static World one;
  return one;
}

sim::Machine& machine() {
  return world().machine;
}

int opened(const Result<int>& fd, const char* call) {
  if (fd.ok()) return fd.value();
  std::fprintf(stderr, "%s: error %d\n", call, fd.error());
  std::exit(1);
}

}  // namespace

void reset() {
  world().machine.reset();
  world().chooser.next = 0;
  world().random = 0;
}

void choose_next(unsigned choice) {
  world().chooser.next = choice;
}

int open_event() {
  return opened(machine().eventfd(sim::kServer, 0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
}

std::array<int, 2> open_pair() {
  int ends[2] = {};
  const Status made = machine().socketpair(sim::kServer, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, ends);
  opened(made.ok() ? Result<int>(0) : Result<int>::failure(made.error), "socketpair");
  return {ends[0], ends[1]};
}

int duplicate(int fd) {
  return opened(machine().dup(sim::kServer, fd), "dup");
}

void close(int fd) {
  const Status closed = machine().close(sim::kServer, fd);
  opened(closed.ok() ? Result<int>(0) : Result<int>::failure(closed.error), "close");
}

bool is_open(int fd) {
  return machine().is_open(sim::kServer, fd);
}

void write_one(int fd) {
  const std::uint64_t one = 1;
  static_cast<void>(machine().write(sim::kServer, fd, &one, sizeof one).ok());
}

void read_all(int fd) {
  std::array<char, 4096> bytes;
  static_cast<void>(machine().read(sim::kServer, fd, bytes.data(), bytes.size()).ok());
}

}  // namespace flare::fuzz::host

// What the reactor asks of its kernel.
namespace flare::inline FLARE_ABI {

using fuzz::host::machine;
using sim::kServer;

Result<int> ModelKernel::poller_open() {
  return machine().epoll_create(kServer);
}

Status ModelKernel::poller_add(int poller, int fd, std::uint64_t key, unsigned interest, AddMode mode) {
  return machine().epoll_ctl(kServer, poller, EPOLL_CTL_ADD, fd, events_of(interest, mode == AddMode::kExclusive), key);
}

Status ModelKernel::poller_modify(int poller, int fd, std::uint64_t key, unsigned interest) {
  return machine().epoll_ctl(kServer, poller, EPOLL_CTL_MOD, fd, events_of(interest, false), key);
}

Status ModelKernel::poller_remove(int poller, int fd) {
  return machine().epoll_ctl(kServer, poller, EPOLL_CTL_DEL, fd, 0, 0);
}

Result<int> ModelKernel::poller_wait(int poller, ReadyEvent* out, int max, int /*timeout_ms*/) {
  static constinit std::array<epoll_event, 512> events{};
  const int most = std::min(max, static_cast<int>(events.size()));
  const Result<int> taken = machine().epoll_take(kServer, poller, events.data(), most);
  for (int i = 0; taken.ok() && i < taken.value(); ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    out[i] = ReadyEvent{event.data.u64, bits_of(event.events)};
  }
  return taken;
}

Result<int> ModelKernel::wake_open() {
  return machine().eventfd(kServer, 0, EFD_NONBLOCK | EFD_CLOEXEC);
}

Status ModelKernel::wake_signal(int fd) {
  return machine().eventfd_write(kServer, fd, 1);
}

Status ModelKernel::wake_clear(int fd) {
  return Status{machine().eventfd_read(kServer, fd).error()};
}

Status ModelKernel::close(int fd) {
  return machine().close(kServer, fd);
}

std::uint64_t ModelKernel::random_u64() {
  return ++fuzz::host::world().random;
}

void ModelKernel::write_error(const void* data, std::size_t size) {
  static_cast<void>(::write(STDERR_FILENO, data, size) < 0);
}

}  // namespace flare::inline FLARE_ABI
