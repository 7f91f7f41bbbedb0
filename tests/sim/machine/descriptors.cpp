#include <cerrno>

#include "machine/machine.h"

namespace flare::sim {

const Description* Machine::find(Process p, int fd) const {
  const int index = tables_[p].description(fd);
  return index == kNone ? nullptr : &descriptions_[index];
}

Description* Machine::find(Process p, int fd) {
  const int index = tables_[p].description(fd);
  return index == kNone ? nullptr : &descriptions_[index];
}

Result<int> Machine::find_socket(Process p, int fd) const {
  const Description* description = find(p, fd);
  if (description == nullptr) return Result<int>::failure(EBADF);
  if (description->kind != Kind::kSocket) return Result<int>::failure(ENOTSOCK);
  return description->object;
}

int Machine::describe(Kind kind, int object, bool nonblocking) {
  const int index = descriptions_.take();
  Description& description = descriptions_[index];
  description.kind = kind;
  description.object = object;
  description.references = 1;
  description.generation = ++generation_;
  description.nonblocking = nonblocking;
  if (kind == Kind::kEpoll) sets_[object].generation = description.generation;
  if (kind == Kind::kSocket) {
    sockets_[object].description = index;
    sockets_[object].listener = kNone;
  }
  return index;
}

// The caller has made sure that a number is free.
Result<int> Machine::open(Process p, Kind kind, int object, bool nonblocking, bool close_on_exec) {
  const int fd = tables_[p].lowest_free();
  tables_[p].put(fd, describe(kind, object, nonblocking), close_on_exec);
  return fd;
}

WaitQueue& Machine::watchers_of(const Description& description) {
  switch (description.kind) {
    case Kind::kEventfd:
      return counters_[description.object].watchers;
    case Kind::kEpoll:
      return sets_[description.object].watchers;
    case Kind::kSocket:
      break;
  }
  return sockets_[description.object].watchers;
}

Status Machine::close(Process p, int fd) {
  const int description = tables_[p].description(fd);
  if (description == kNone) return Status{EBADF};
  tables_[p].remove(fd);
  drop(description);
  return Status{};
}

Result<int> Machine::dup(Process p, int fd) {
  const int description = tables_[p].description(fd);
  if (description == kNone) return Result<int>::failure(EBADF);
  const int copy = tables_[p].lowest_free();
  if (copy == kNone) return Result<int>::failure(EMFILE);
  ++descriptions_[description].references;
  tables_[p].put(copy, description, false);
  return copy;
}

// Registrations go with the description, not with the number: the last reference takes them along.
void Machine::drop(int index) {
  Description& description = descriptions_[index];
  if (--description.references > 0) return;
  while (!description.items.empty()) remove_item(description.items.first);
  const int object = description.object;
  const Kind kind = description.kind;
  descriptions_.give(index);
  switch (kind) {
    case Kind::kEventfd:
      counters_.give(object);
      break;
    case Kind::kEpoll:
      free_set(object);
      break;
    case Kind::kSocket:
      sockets_[object].description = kNone;
      if (sockets_[object].family == AF_UNIX) {
        close_unix(object);
      } else {
        close_tcp(object);
      }
      break;
  }
}

}  // namespace flare::sim
