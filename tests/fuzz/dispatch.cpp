#include "dispatch.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "flare/base/network_error.h"
#include "target.h"

namespace flare::fuzz {

namespace {

template <class Call>
int error_of(Call&& call) {
  try {
    call();
  } catch (const NetworkError& error) {
    return error.code().value();
  }
  return 0;
}

}  // namespace

void Dispatch::begin() {
  host::reset();
  files_.clear();
  next_retained_ = 0;
  serials_ = identities_ = 0;
  for (ReactorModel& model : models_) model.clear(++identities_);
}

void Dispatch::end() {
  for (std::size_t slot = 0; slot < kSlots; ++slot) close_slot(slot);
  for (std::optional<Reactor>& one : reactors_) one.reset();
}

// A reactor is there from its first use: most tapes need one.
Reactor& Dispatch::reactor(std::size_t i) {
  if (!reactors_[i]) reactors_[i].emplace();
  return *reactors_[i];
}

void Dispatch::expect(int error, int got, const char* what) const {
  const bool gone = got == EBADF || got == ENOENT || got == EINVAL;
  const bool same = error == kGone ? gone : got == error;
  if (!same) fail(step_, std::string(what) + ": error " + std::to_string(got) + ", expected " + std::to_string(error));
}

void Dispatch::open_event(const Arguments& at) {
  close_slot(at.slot);
  files_.opened_event(at.slot, host::open_event());
}

void Dispatch::open_pair(const Arguments& at) {
  if (at.slot == at.other) return;
  close_slot(at.slot);
  close_slot(at.other);
  files_.opened_pair(at.slot, at.other, host::open_pair());
}

void Dispatch::close_slot(std::size_t slot) {
  const Files::Slot one = files_.slot(slot);
  if (one.file < 0) return;
  host::close(one.fd);
  if (!files_.closed(slot)) return;
  for (ReactorModel& model : models_) model.file_gone(one.file);
}

// Without unregistering it first, which is against the rules and must do no harm.
void Dispatch::close(const Arguments& at) {
  close_slot(at.slot);
}

void Dispatch::unregister_slot(std::size_t slot, std::size_t from) {
  const int fd = files_.slot(slot).fd;
  if (fd < 0) return;
  const int expected = models_[from].unregister(fd);
  expect(expected, error_of([&] { reactor(from).unregister(fd); }), "unregister");
}

// By the rules: out of every reactor, then closed.
void Dispatch::leave(const Arguments& at) {
  const int fd = files_.slot(at.slot).fd;
  for (std::size_t i = 0; i < kReactors; ++i) {
    if (models_[i].find(fd) == nullptr) continue;
    if (at.flag) {
      require(reactor(i).forget(fd) && !reactor(i).forget(fd), step_, "forget");
      models_[i].forget(fd);
    } else {
      unregister_slot(at.slot, i);
    }
  }
  close_slot(at.slot);
}

// A newcomer gets the number that one has just left, and is registered in its place.
void Dispatch::reuse(const Arguments& at) {
  leave(at);
  open_event(at);
  add_as(at, false);
}

void Dispatch::duplicate(const Arguments& at) {
  if (files_.slot(at.slot).file < 0 || at.slot == at.other) return;
  close_slot(at.other);
  files_.duplicated(at.slot, at.other, host::duplicate(files_.slot(at.slot).fd));
}

void Dispatch::write(const Arguments& at) {
  if (files_.slot(at.slot).file < 0 || !files_.may_write(at.slot)) return;
  host::write_one(files_.slot(at.slot).fd);
  files_.wrote(at.slot);
}

void Dispatch::read(const Arguments& at) {
  if (files_.slot(at.slot).file < 0) return;
  host::read_all(files_.slot(at.slot).fd);
  files_.read(at.slot);
}

void Dispatch::add_as(const Arguments& at, bool exclusive) {
  const int fd = files_.slot(at.slot).fd;
  Reactor& to = reactor(at.reactor);
  if (fd < 0 || !is_free_or_ours(fd)) return;
  const bool fails = models_[at.reactor].find(fd) != nullptr || files_.file_of(fd) < 0;
  if (fails && !at.insists()) return;
  const unsigned serial = ++serials_;
  const std::uint64_t token = at.number == 255 ? WAKEUP_TOKEN : serial;
  const int expected = models_[at.reactor].register_fd(serial, fd, token, at.interest(), exclusive);
  const int got = error_of(
      [&] { exclusive ? to.register_exclusive(fd, token, at.interest()) : to.register_fd(fd, token, at.interest()); });
  expect(expected, got, "register");
}

void Dispatch::modify(const Arguments& at) {
  const int fd = files_.slot(at.slot).fd;
  if (fd < 0 || !is_free_or_ours(fd)) return;
  const Registration* found = models_[at.reactor].find(fd);
  if ((found == nullptr || found->exclusive) && !at.insists()) return;
  if (models_[at.reactor].meets_stale_watch(fd)) return;
  const int expected = models_[at.reactor].modify(fd, at.interest());
  expect(expected, error_of([&] { reactor(at.reactor).modify(fd, at.interest()); }), "modify");
}

void Dispatch::unregister(const Arguments& at) {
  if (models_[at.reactor].find(files_.slot(at.slot).fd) == nullptr && !at.insists()) return;
  unregister_slot(at.slot, at.reactor);
}

void Dispatch::wakeup(const Arguments& at) {
  reactor(at.reactor).wakeup();
  models_[at.reactor].woken();
}

void Dispatch::poll(const Arguments& at) {
  ReactorModel& model = models_[at.reactor];
  // Which of the stale a small batch holds is the kernel's affair; with a whole one it is known.
  const std::size_t stale = model.stale_count();
  const std::size_t all = std::max(kWholeBatch, stale + model.ready_count());
  const int batch = stale > 0 ? static_cast<int>(all) : at.batch();
  host::choose_next(at.number / 4);
  int count = 0;
  const int got = error_of([&] { count = reactor(at.reactor).poll(0, events_, batch); });
  expect(batch < 1 ? EINVAL : 0, got, "poll");
  require(count == static_cast<int>(events_.size()), step_, "poll's count is not that of its events");
  const std::size_t room = static_cast<std::size_t>(batch);
  require(events_.size() == std::min(room, model.ready_count()), step_, "poll gave another number of events");
  seen_.clear();
  for (const Event& event : events_) check_event(event, at.reactor);
  if (stale > 0) model.stale_fired();
}

// Its registrations and its waker go along, and the events that it gave stay good.
void Dispatch::move(const Arguments& at) {
  const std::size_t from = at.reactor;
  const std::size_t to = 1 - from;
  Reactor& source = reactor(from);
  if (at.flag) {
    Reactor moved(std::move(source));
    source = std::move(moved);
    return;
  }
  reactor(to) = std::move(source);
  source = Reactor();
  models_[to] = models_[from];
  models_[from].clear(++identities_);
}

}  // namespace flare::fuzz
