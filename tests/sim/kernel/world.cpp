#include "kernel/world.h"

#include <string>

#include "engine/arena.h"
#include "engine/settings.h"
#include "engine/tsan.h"

namespace flare::sim {

namespace {

constexpr int kStranger = kMaxThreads - 1;  // no schedule has so many threads

std::string owner_text(Epoch opened) {
  return opened.thread == kStranger ? "a stranger" : "thread " + std::to_string(opened.thread);
}

}  // namespace

World::World() : machine_(*this) {}

World& World::current() {
  static World world;
  return world;
}

void World::reset(const WorldOptions& options) {
  machine_.reset();
  machine_.set_limit(kServer, options.descriptors);
  machine_.set_waiters_stay(options.waiters_stay);
  // Kept, since a deque gives its memory back.
  std::uint32_t id = kArenaIds;
  for (Record& one : records_) {
    one = {};
    one.object.id = ++id;
  }
  faults_ = 0;
  histories_.clear();
  names_ = {};
  options_ = options;
  strangers_ = 0;
  breaks_wait_of_ = breaks_accept_of_ = -1;
}

unsigned World::choose(unsigned options, const char* /*what*/) {
  Schedule* schedule = Schedule::current();
  return schedule == nullptr ? 0 : schedule->choose(options, ChoiceKind::kWaiter, "the kernel's pick");
}

World::Record& World::record(Process process, int fd) {
  const std::uint64_t description = machine_.description_of(process, fd);
  const HostScope host;
  while (records_.size() <= description) {
    records_.emplace_back();
    records_.back().object.id = kArenaIds + static_cast<std::uint32_t>(records_.size());
  }
  return records_[description];
}

void World::enter(int fd, Name call, bool writes) {
  Schedule& schedule = *Schedule::current();
  if (machine_.description_of(kServer, fd) == 0) {
    schedule.fail("ledger", std::string(call.text()) + " on number " + std::to_string(fd) + ", which nothing has");
  }
  Record& before = record(kServer, fd);
  schedule.point(before.object, writes, call);
  // The point may have let others run: the number may be another's now.
  if (machine_.description_of(kServer, fd) == 0) {
    schedule.fail("ledger", std::string(call.text()) + " on number " + std::to_string(fd) + ", closed meanwhile");
  }
  Record& one = record(kServer, fd);
  if (!schedule.clock().knows(one.opened)) {
    schedule.fail("ledger", std::string(call.text()) + " on number " + std::to_string(fd) + ", which " +
                                owner_text(one.opened) + " opened and nobody told this one of: a stolen number");
  }
  one.uses.set(schedule.thread(), schedule.clock().of(schedule.thread()));
  touch(kServer, fd, call);
}

void World::touch(Process process, int fd, Name call) {
  if (!Schedule::current()->keeps_histories()) return;
  related_.clear();
  machine_.related(process, fd, related_);
  touch_related(call);
}

void World::touch_listeners(Name call) {
  if (!Schedule::current()->keeps_histories()) return;
  related_.clear();
  machine_.related_listeners(related_);
  touch_related(call);
}

void World::touch_related(Name call) {
  Schedule& schedule = *Schedule::current();
  for (const std::uint32_t key : related_) {
    const std::size_t index = (key & 0xffff) * 4 + (key >> 16);
    if (histories_.size() <= index) {
      const HostScope host;
      histories_.resize(index + 64);
    }
  }
  // What is found in all of them, then what is left in all of them.
  for (const std::uint32_t key : related_) {
    const SharedObject& one = histories_[(key & 0xffff) * 4 + (key >> 16)];
    schedule.touch_value(one.written_by + key);
  }
  schedule.touch_value(call.hash());
  for (const std::uint32_t key : related_) {
    histories_[(key & 0xffff) * 4 + (key >> 16)].written_by = schedule.history() + key;
  }
}

void World::opened(int fd, Name call) {
  Schedule& schedule = *Schedule::current();
  Record& one = record(kServer, fd);
  one.opened = schedule.clock().now(schedule.thread());
  schedule.clock().tick(schedule.thread());
  schedule.note(call, -1, fd);
}

void World::closing(int fd) {
  enter(fd, "close");
  Schedule& schedule = *Schedule::current();
  if (!options_.strangers && !schedule.clock().covers(record(kServer, fd).uses)) {
    schedule.fail("ledger", "number " + std::to_string(fd) + " is closed while another thread may use it");
  }
}

void World::closed() {
  if (!options_.strangers) return;
  const Result<int> taken = [this] {
    const HostScope host;
    return machine_.eventfd(kServer, 0, 0);
  }();
  if (!taken.ok()) return;
  ++strangers_;
  record(kServer, taken.value()).opened = Epoch{1, kStranger};
  Schedule::current()->note("a stranger opens", -1, taken.value());
}

void World::publish(int fd) {
  Schedule& schedule = *Schedule::current();
  Record& one = record(kServer, fd);
  one.published.join(schedule.clock());
  tsan::release(&one);
  schedule.clock().tick(schedule.thread());
}

void World::observe(int fd) {
  const Record& one = record(kServer, fd);
  Schedule::current()->clock().join(one.published);
  tsan::acquire(&one);
}

void World::enter_outside(int fd, Name call) {
  Schedule::current()->point(record(kWorld, fd).object, true, call);
  touch(kWorld, fd, call);
}

// accept took it out of the queue and found it dead: the client sees a reset.
void World::lose_waiting_client(int listener) {
  const HostScope host;
  const Result<int> lost = machine_.accept4(kServer, listener, 0);
  if (!lost.ok()) return;
  static_cast<void>(machine_.set_linger(kServer, lost.value(), true, 0));
  static_cast<void>(machine_.close(kServer, lost.value()));
}

int World::fault(Name call, std::span<const int> errors) {
  if (!settings().faults) return 0;
  const std::uint32_t taken =
      Schedule::current()->choose(static_cast<std::uint32_t>(errors.size()) + 1, ChoiceKind::kFault, call);
  if (taken == 0) return 0;
  ++faults_;
  return errors[taken - 1];
}

}  // namespace flare::sim
