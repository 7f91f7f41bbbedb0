#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "machine/machine.h"

namespace flare::sim {

Result<int> Machine::eventfd(Process p, unsigned initial, int flags) {
  if ((flags & ~(EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE)) != 0) return Result<int>::failure(EINVAL);
  if (tables_[p].lowest_free() == kNone) return Result<int>::failure(EMFILE);
  const int counter = counters_.take();
  counters_[counter].count = initial;
  counters_[counter].semaphore = (flags & EFD_SEMAPHORE) != 0;
  return open(p, Kind::kEventfd, counter, (flags & EFD_NONBLOCK) != 0, (flags & EFD_CLOEXEC) != 0);
}

Result<std::uint64_t> Machine::eventfd_read(Process p, int fd) {
  const Description* description = find(p, fd);
  if (description == nullptr) return Result<std::uint64_t>::failure(EBADF);
  if (description->kind != Kind::kEventfd) return Result<std::uint64_t>::failure(EINVAL);
  EventCounter& counter = counters_[description->object];
  if (counter.count == 0) return Result<std::uint64_t>::failure(EAGAIN);
  const std::uint64_t value = counter.semaphore ? 1 : counter.count;
  counter.count -= value;
  wake(counter.watchers, EPOLLOUT, false);
  return value;
}

Status Machine::eventfd_write(Process p, int fd, std::uint64_t value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const Description* description = find(p, fd);
  if (description == nullptr) return Status{EBADF};
  if (description->kind != Kind::kEventfd || value == kMost) return Status{EINVAL};
  EventCounter& counter = counters_[description->object];
  if (kMost - counter.count <= value) return Status{EAGAIN};
  counter.count += value;
  wake(counter.watchers, EPOLLIN, false);
  return Status{};
}

Result<std::size_t> Machine::read(Process p, int fd, void* out, std::size_t size) {
  const Description* description = find(p, fd);
  if (description == nullptr) return Result<std::size_t>::failure(EBADF);
  if (description->kind == Kind::kSocket) return recv(p, fd, out, size);
  if (description->kind != Kind::kEventfd || size < sizeof(std::uint64_t)) return Result<std::size_t>::failure(EINVAL);
  const Result<std::uint64_t> value = eventfd_read(p, fd);
  if (!value.ok()) return Result<std::size_t>::failure(value.error());
  std::memcpy(out, &value.value(), sizeof(std::uint64_t));
  return sizeof(std::uint64_t);
}

Result<std::size_t> Machine::write(Process p, int fd, const void* data, std::size_t size) {
  const Description* description = find(p, fd);
  if (description == nullptr) return Result<std::size_t>::failure(EBADF);
  if (description->kind == Kind::kSocket) return send(p, fd, data, size);
  if (description->kind != Kind::kEventfd || size < sizeof(std::uint64_t)) return Result<std::size_t>::failure(EINVAL);
  std::uint64_t value = 0;
  std::memcpy(&value, data, sizeof value);
  const Status status = eventfd_write(p, fd, value);
  if (!status.ok()) return Result<std::size_t>::failure(status.error);
  return sizeof value;
}

}  // namespace flare::sim
