#include <sys/epoll.h>

#include "machine/machine.h"

namespace flare::sim {

void Machine::watch(int index) {
  Item& item = items_[index];
  WaitQueue& queue = watchers_of(descriptions_[item.description]);
  if (item.exclusive) {
    queue.items.push_back(items_, index);
    ++queue.exclusive;
  } else {
    queue.items.push_front(items_, index);
  }
}

void Machine::unwatch(int index) {
  Item& item = items_[index];
  WaitQueue& queue = watchers_of(descriptions_[item.description]);
  if (item.exclusive) --queue.exclusive;
  queue.items.remove(items_, index);
}

// Every item that is not exclusive hears of it; of the exclusive ones those up to the first whose set has a thread
// asleep. all: of a change of state all hear.
void Machine::wake(WaitQueue& queue, std::uint32_t key, bool all) {
  int item = queue.items.first;
  for (int left = queue.items.count - (all ? 0 : queue.exclusive); left > 0; --left) {
    const int next = queue.items.next(items_, item);
    notify(item, key);
    item = next;
  }
  if (all || queue.exclusive == 0) return;
  const int first = item;
  unsigned skip = 0;
  if (queue.exclusive >= 2) {
    options_.clear();
    for (int i = first; i != kNone; i = queue.items.next(items_, i)) {
      options_.push_back(sets_[items_[i].set].generation);
    }
    skip = chooser_.choose(static_cast<unsigned>(queue.exclusive), "exclusive waiter");
  }
  for (; skip > 0; --skip) item = queue.items.next(items_, item);
  for (int left = queue.exclusive; left > 0; --left) {
    if (notify(item, key)) return;
    item = queue.items.next(items_, item);
    if (item == kNone) item = first;
  }
}

// One item hears of a change. True: an exclusive walk may end here.
bool Machine::notify(int index, std::uint32_t key) {
  const Item& item = items_[index];
  if ((item.events & ~kModes) == 0) return !item.exclusive;
  if (key != 0 && (key & item.events) == 0) return !item.exclusive;
  EpollSet& set = sets_[item.set];
  if (!item.ready.linked) set.ready.push_back(items_, index);
  bool took = !item.exclusive;
  if (!set.waiters.empty()) {
    const std::uint32_t direction = key & (EPOLLIN | EPOLLOUT);
    if (direction == 0 || (direction & item.events) != 0) took = true;
    wake_waiter(set);
  }
  if (!set.watchers.items.empty()) wake(set.watchers, EPOLLIN, false);
  return took;
}

void Machine::make_ready(EpollSet& set, int index) {
  if (items_[index].ready.linked) return;
  set.ready.push_back(items_, index);
  wake_waiter(set);
  if (!set.watchers.items.empty()) wake(set.watchers, EPOLLIN, false);
}

// The thread leaves the queue as it is woken, so the next wake finds the next one.
// Before Linux 5.7 it left when it ran.
void Machine::wake_waiter(EpollSet& set) {
  if (set.waiters.empty()) return;
  waiters_[set.waiters.first].woken = true;
  if (!waiters_stay_) set.waiters.pop_front(waiters_);
}

}  // namespace flare::sim
