#include "dispatch_model.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace flare::fuzz {

namespace {

constexpr int kRemembered = 8;        // limits::kStaleKeys
constexpr unsigned kMostUnread = 16;  // far from where any buffer is full

bool valid(int interest) {
  return interest >= 1 && interest <= (kReadBit | kWriteBit);
}

}  // namespace

void Files::clear() {
  slots_ = {};
  files_.clear();
}

int Files::file_of(int fd) const {
  for (const Slot& one : slots_) {
    if (one.fd == fd && one.file >= 0) return one.file;
  }
  return -1;
}

void Files::opened_event(std::size_t slot, int fd) {
  const int file = static_cast<int>(files_.size());
  files_.push_back({.peer = file});
  slots_[slot] = {fd, file};
}

void Files::opened_pair(std::size_t slot_a, std::size_t slot_b, std::array<int, 2> fds) {
  const int file = static_cast<int>(files_.size());
  files_.push_back({.peer = file + 1});
  files_.push_back({.peer = file});
  slots_[slot_a] = {fds[0], file};
  slots_[slot_b] = {fds[1], file + 1};
}

void Files::duplicated(std::size_t from, std::size_t to, int fd) {
  const int file = slots_[from].file;
  ++files_[static_cast<std::size_t>(file)].numbers;
  slots_[to] = {fd, file};
}

bool Files::closed(std::size_t slot) {
  File& file = files_[static_cast<std::size_t>(slots_[slot].file)];
  if (--file.numbers == 0 && file.unread > 0) files_[static_cast<std::size_t>(file.peer)].reset = true;
  slots_[slot].file = -1;
  return file.numbers == 0;
}

bool Files::may_write(std::size_t slot) const {
  const File& file = files_[static_cast<std::size_t>(slots_[slot].file)];
  const File& reader = files_[static_cast<std::size_t>(file.peer)];
  return reader.numbers > 0 && reader.unread < kMostUnread;
}

void Files::wrote(std::size_t slot) {
  ++files_[static_cast<std::size_t>(files_[static_cast<std::size_t>(slots_[slot].file)].peer)].unread;
}

// An error is told once, by the first read that gets nothing else.
void Files::read(std::size_t slot) {
  File& file = files_[static_cast<std::size_t>(slots_[slot].file)];
  if (file.unread == 0) file.reset = false;
  file.unread = 0;
}

Said Files::said(int index, int interest) const {
  const File& file = files_[static_cast<std::size_t>(index)];
  const bool gone = is_pair(index) && peer_gone(index);
  Said said;
  // The peer's end is part of what a reader asks for; of a peer that is gone for good everybody hears.
  said.hup = gone;
  said.readable = ((interest & kReadBit) != 0 && file.unread > 0) || gone;
  said.writable = (interest & kWriteBit) != 0;
  said.error = file.reset;
  return said;
}

void ReactorModel::clear(unsigned identity) {
  identity_ = identity;
  wake_ = false;
  fired_ = 0;
  books_.clear();
  watches_.clear();
}

const Registration* ReactorModel::find(int fd) const {
  for (const Registration& one : books_) {
    if (one.fd == fd) return &one;
  }
  return nullptr;
}

const Registration* ReactorModel::find_serial(unsigned serial) const {
  for (const Registration& one : books_) {
    if (one.serial == serial) return &one;
  }
  return nullptr;
}

const ReactorModel::Watch* ReactorModel::watch_of(int fd) const {
  const int file = files_->file_of(fd);
  for (const Watch& one : watches_) {
    if (one.fd == fd && one.file == file) return &one;
  }
  return nullptr;
}

bool ReactorModel::meets_stale_watch(int fd) const {
  const Registration* registration = find(fd);
  const Watch* watch = watch_of(fd);
  return registration != nullptr && watch != nullptr && watch->serial != registration->serial;
}

int ReactorModel::register_fd(unsigned serial, int fd, std::uint64_t token, int interest, bool exclusive) {
  if (token == ~std::uint64_t{0} || !valid(interest)) return EINVAL;
  if (find(fd) != nullptr) return EEXIST;
  if (files_->file_of(fd) < 0) return EBADF;
  if (watch_of(fd) != nullptr) return EEXIST;
  books_.push_back({serial, fd, token, interest, exclusive});
  watches_.push_back({files_->file_of(fd), fd, serial, interest, exclusive});
  return 0;
}

int ReactorModel::modify(int fd, int interest) {
  if (!valid(interest)) return EINVAL;
  const Registration* found = find(fd);
  if (found == nullptr) return ENOENT;
  if (found->exclusive) return EINVAL;
  if (found->interest == interest) return 0;
  if (files_->file_of(fd) < 0) return EBADF;
  const Watch* watch = watch_of(fd);
  if (watch == nullptr) return ENOENT;
  watches_[static_cast<std::size_t>(watch - watches_.data())].interest = interest;
  books_[static_cast<std::size_t>(found - books_.data())].interest = interest;
  return 0;
}

int ReactorModel::unregister(int fd) {
  const Registration* found = find(fd);
  if (found == nullptr) return ENOENT;
  const Watch* watch = watch_of(fd);
  books_.erase(books_.begin() + (found - books_.data()));
  if (watch == nullptr) return kGone;
  watches_.erase(watches_.begin() + (watch - watches_.data()));
  return 0;
}

void ReactorModel::forget(int fd) {
  books_.erase(books_.begin() + (find(fd) - books_.data()));
}

void ReactorModel::file_gone(int file) {
  std::erase_if(watches_, [file](const Watch& one) { return one.file == file; });
}

std::optional<Said> ReactorModel::ready(const Registration& registration) const {
  for (const Watch& one : watches_) {
    if (one.serial != registration.serial) continue;
    const Said now = said(one);
    if (now.any()) return now;
  }
  return std::nullopt;
}

std::size_t ReactorModel::ready_count() const {
  std::size_t count = wake_ ? 1 : 0;
  for (const Registration& one : books_) count += ready(one) ? 1 : 0;
  return count;
}

std::size_t ReactorModel::stale_count() const {
  std::size_t count = 0;
  for (const Watch& one : watches_) count += is_stale(one) && said(one).any() ? 1 : 0;
  return count;
}

void ReactorModel::stale_fired() {
  bool again = false;
  for (Watch& one : watches_) {
    if (!is_stale(one) || !said(one).any()) continue;
    again = again || one.fired || fired_ == kRemembered;
    if (!one.fired && fired_ < kRemembered) ++fired_;
    one.fired = true;
  }
  if (!again) return;
  fired_ = 0;
  std::vector<Watch> rebuilt;
  for (const Registration& one : books_) {
    const Watch* watch = watch_of(one.fd);
    if (watch == nullptr || watch->exclusive != one.exclusive) continue;
    rebuilt.push_back({watch->file, one.fd, one.serial, one.interest, one.exclusive});
  }
  watches_ = std::move(rebuilt);
}

}  // namespace flare::fuzz
