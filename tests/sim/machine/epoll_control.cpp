#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "machine/machine.h"

namespace flare::sim {

namespace {

constexpr std::uint32_t kExclusiveAllows =
    EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE;
constexpr int kDeepest = 4;  // sets within sets

}  // namespace

Result<int> Machine::epoll_create(Process p, int flags) {
  if ((flags & ~EPOLL_CLOEXEC) != 0) return Result<int>::failure(EINVAL);
  if (tables_[p].lowest_free() == kNone) return Result<int>::failure(EMFILE);
  return open(p, Kind::kEpoll, sets_.take(), false, (flags & EPOLL_CLOEXEC) != 0);
}

Result<int> Machine::find_set(Process p, int ep) const {
  const Description* description = find(p, ep);
  if (description == nullptr) return Result<int>::failure(EBADF);
  if (description->kind != Kind::kEpoll) return Result<int>::failure(EINVAL);
  return description->object;
}

Status Machine::epoll_ctl(Process p, int ep, int op, int fd, std::uint32_t events, std::uint64_t data) {
  const int own = tables_[p].description(ep);
  const int target = tables_[p].description(fd);
  if (own == kNone || target == kNone) return Status{EBADF};
  if (own == target || descriptions_[own].kind != Kind::kEpoll) return Status{EINVAL};
  const bool nested = descriptions_[target].kind == Kind::kEpoll;
  if (op != EPOLL_CTL_DEL && (events & EPOLLEXCLUSIVE) != 0) {
    if (op == EPOLL_CTL_MOD) return Status{EINVAL};
    if (op == EPOLL_CTL_ADD && (nested || (events & ~kExclusiveAllows) != 0)) return Status{EINVAL};
  }
  const int set = descriptions_[own].object;
  if (op == EPOLL_CTL_ADD && nested) {
    const int below = depth_below(descriptions_[target].object, set);
    if (below > kDeepest || below + 1 + depth_above(set) > kDeepest) return Status{ELOOP};
  }
  const int item = find_item(set, target, fd);
  switch (op) {
    case EPOLL_CTL_ADD:
      return item != kNone ? Status{EEXIST} : add_item(set, target, fd, events | EPOLLERR | EPOLLHUP, data);
    case EPOLL_CTL_MOD:
      if (item == kNone) return Status{ENOENT};
      return items_[item].exclusive ? Status{EINVAL} : modify_item(item, events | EPOLLERR | EPOLLHUP, data);
    case EPOLL_CTL_DEL:
      if (item == kNone) return Status{ENOENT};
      remove_item(item);
      return Status{};
    default:
      return Status{EINVAL};
  }
}

int Machine::find_item(int set, int description, int fd) const {
  const auto& items = descriptions_[description].items;
  for (int i = items.first; i != kNone; i = items.next(items_, i)) {
    if (items_[i].set == set && items_[i].fd == fd) return i;
  }
  return kNone;
}

Status Machine::add_item(int set, int description, int fd, std::uint32_t events, std::uint64_t data) {
  const int index = items_.take();
  Item& item = items_[index];
  item.set = set;
  item.description = description;
  item.fd = fd;
  item.events = events;
  item.data = data;
  item.exclusive = (events & EPOLLEXCLUSIVE) != 0;
  descriptions_[description].items.push_back(items_, index);
  sets_[set].items.push_back(items_, index);
  watch(index);
  if (item_mask(item) != 0) make_ready(sets_[set], index);
  return Status{};
}

// What is ready now is shown, also where an earlier event was already taken.
Status Machine::modify_item(int index, std::uint32_t events, std::uint64_t data) {
  Item& item = items_[index];
  item.events = events;
  item.data = data;
  if (item_mask(item) != 0) make_ready(sets_[item.set], index);
  return Status{};
}

void Machine::remove_item(int index) {
  unwatch(index);
  Item& item = items_[index];
  EpollSet& set = sets_[item.set];
  if (item.ready.linked) set.ready.remove(items_, index);
  set.items.remove(items_, index);
  descriptions_[item.description].items.remove(items_, index);
  items_.give(index);
}

void Machine::free_set(int set) {
  while (!sets_[set].items.empty()) remove_item(sets_[set].items.first);
  sets_.give(set);
}

// How many sets lie below this one; more than the deepest allowed if the sought one is among them.
int Machine::depth_below(int set, int sought) const {
  if (set == sought) return kDeepest + 1;
  int depth = 0;
  for (int i = sets_[set].items.first; i != kNone; i = sets_[set].items.next(items_, i)) {
    const Description& inner = descriptions_[items_[i].description];
    if (inner.kind == Kind::kEpoll) depth = std::max(depth, 1 + depth_below(inner.object, sought));
  }
  return depth;
}

int Machine::depth_above(int set) const {
  int depth = 0;
  const auto& watchers = sets_[set].watchers.items;
  for (int i = watchers.first; i != kNone; i = watchers.next(items_, i)) {
    depth = std::max(depth, 1 + depth_above(items_[i].set));
  }
  return depth;
}

}  // namespace flare::sim
