#include <sys/epoll.h>

#include <cerrno>

#include "machine/machine.h"

namespace flare::sim {

Result<int> Machine::epoll_take(Process p, int ep, epoll_event* events, int max) {
  const Result<int> set = find_set(p, ep);
  if (!set.ok()) return set;
  return take(set.value(), events, max);
}

bool Machine::epoll_has_ready(Process p, int ep) const {
  const Result<int> set = find_set(p, ep);
  return set.ok() && !sets_[set.value()].ready.empty();
}

Result<int> Machine::begin_wait(Process p, int ep) {
  const Result<int> set = find_set(p, ep);
  if (!set.ok()) return set;
  const int waiter = waiters_.take();
  waiters_[waiter].description = tables_[p].description(ep);
  ++descriptions_[waiters_[waiter].description].references;
  sets_[set.value()].waiters.push_front(waiters_, waiter);
  return waiter;
}

bool Machine::wait_has_ready(int waiter) const {
  return !sets_[descriptions_[waiters_[waiter].description].object].ready.empty();
}

Result<int> Machine::wait_take(int waiter, epoll_event* events, int max) {
  return take(descriptions_[waiters_[waiter].description].object, events, max);
}

void Machine::end_wait(int waiter) {
  const int description = waiters_[waiter].description;
  if (waiters_[waiter].links.linked) sets_[descriptions_[description].object].waiters.remove(waiters_, waiter);
  waiters_.give(waiter);
  drop(description);
}

// The list is looked through once: what is no longer ready leaves it, what is level triggered goes to its end, what the
// caller has no room for stays in front.
Result<int> Machine::take(int index, epoll_event* events, int max) {
  if (max <= 0) return Result<int>::failure(EINVAL);
  EpollSet& set = sets_[index];
  if (set.ready.empty()) return 0;
  if (set.ready.count >= 2) {
    unsigned skip = chooser_.choose(static_cast<unsigned>(set.ready.count), "batch order");
    for (; skip > 0; --skip) set.ready.push_back(items_, set.ready.pop_front(items_));
  }
  int found = 0;
  for (int left = set.ready.count; left > 0 && found < max; --left) {
    const int i = set.ready.pop_front(items_);
    Item& item = items_[i];
    const std::uint32_t mask = item_mask(item);
    if (mask == 0) continue;
    events[found].events = mask;
    events[found].data.u64 = item.data;
    ++found;
    if ((item.events & EPOLLONESHOT) != 0) {
      item.events &= kModes;
    } else if ((item.events & EPOLLET) == 0) {
      set.ready.push_back(items_, i);
    }
  }
  if (!set.ready.empty()) wake_waiter(set);
  return found;
}

}  // namespace flare::sim
