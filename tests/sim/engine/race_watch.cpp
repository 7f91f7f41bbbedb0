// Orders that are not locks: reference counts, and plain fields that must be ordered by something else.
#include "engine/schedule.h"
#include "engine/tsan.h"

namespace flare::sim {

void HolderCount::join() {
  ++holders_;
}

bool HolderCount::leave() {
  if (Schedule* schedule = Schedule::current()) {
    published_.join(schedule->clock());
    schedule->clock().join(published_);
    schedule->clock().tick(schedule->thread());
    tsan::release(this);
    tsan::acquire(this);
  }
  return --holders_ == 0;
}

void RaceWatch::read() {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) return;
  if (!schedule->clock().knows(last_write_)) schedule->fail("race", "a plain field is read while it may be written");
  reads_.set(schedule->thread(), schedule->clock().of(schedule->thread()));
}

void RaceWatch::write() {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) return;
  if (!schedule->clock().knows(last_write_) || !schedule->clock().covers(reads_)) {
    schedule->fail("race", "a plain field is written while it may be used");
  }
  last_write_ = schedule->clock().now(schedule->thread());
}

}  // namespace flare::sim
