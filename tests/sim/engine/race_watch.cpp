// Orders that are not locks: reference counts, and plain fields that must be ordered by something else.
#include "engine/schedule.h"

namespace flare::sim {

void release_and_acquire(VectorClock& published) {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) return;
  published.join(schedule->clock());
  schedule->clock().join(published);
  schedule->clock().tick(schedule->thread());
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
