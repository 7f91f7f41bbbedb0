// dispatch_model.h: what a Reactor must do, as lists: who is registered, what the system watches, what is ready.
// Threads:    one.
// Owns:       nothing but its lists.
// Bounds:     kSlots descriptors are open at once.
// Source:     epoll(7) (a watch belongs to a number and an open file description), eventfd(2), unix(7), reactor.h.
//             Nothing here knows of keys, slots or generations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace flare::fuzz {

inline constexpr std::size_t kSlots = 8;
inline constexpr int kGone = -1;
inline constexpr int kReadBit = 1;
inline constexpr int kWriteBit = 2;

// What an event must say.
struct Said {
  bool readable = false;
  bool writable = false;
  bool error = false;
  bool hup = false;
  friend bool operator==(const Said&, const Said&) = default;
  bool any() const { return readable || writable || error || hup; }
};

// The open file descriptions and the numbers that lead to them.
class Files {
 public:
  struct Slot {
    int fd = -1;    // the last number that stood here
    int file = -1;  // -1: closed
  };

  void clear();
  const Slot& slot(std::size_t i) const { return slots_[i]; }
  // -1: no slot has that number open.
  int file_of(int fd) const;
  bool has_numbers(int file) const { return files_[static_cast<std::size_t>(file)].numbers > 0; }

  void opened_event(std::size_t slot, int fd);
  void opened_pair(std::size_t slot_a, std::size_t slot_b, std::array<int, 2> fds);
  void duplicated(std::size_t from, std::size_t to, int fd);
  // True: the last number of its file, which is gone.
  bool closed(std::size_t slot);
  // Whether a write would be seen by anybody and leaves room for more; then it is done.
  bool may_write(std::size_t slot) const;
  void wrote(std::size_t slot);
  void read(std::size_t slot);
  Said said(int file, int interest) const;

 private:
  struct File {
    int peer = -1;  // of a socket pair; itself for an eventfd
    int numbers = 1;
    unsigned unread = 0;  // what a read of this file would get
    bool reset = false;   // the peer went with bytes unread
  };
  bool is_pair(int file) const { return files_[static_cast<std::size_t>(file)].peer != file; }
  bool peer_gone(int file) const { return !has_numbers(files_[static_cast<std::size_t>(file)].peer); }

  std::array<Slot, kSlots> slots_;
  std::vector<File> files_;
};

struct Registration {
  unsigned serial = 0;
  int fd = -1;
  std::uint64_t token = 0;
  int interest = 0;
  bool exclusive = false;
};

// One Reactor.
class ReactorModel {
 public:
  explicit ReactorModel(const Files& files) : files_(&files) {}

  // As a new one, whom no event names yet.
  void clear(unsigned identity);
  unsigned identity() const { return identity_; }

  // The error that the call must give, 0 for none; then it is done. kGone: see unregister.
  int register_fd(unsigned serial, int fd, std::uint64_t token, int interest, bool exclusive);
  int modify(int fd, int interest);
  // kGone: the number is another's or nobody's, so EBADF, ENOENT or (the poller's own)
  // EINVAL, and the registration is gone.
  int unregister(int fd);
  // fd is registered. What the system watches is not asked about.
  void forget(int fd);
  void woken() { wake_ = true; }
  void wake_reported() { wake_ = false; }
  bool wake_pending() const { return wake_; }
  // The last number of file is gone, and with it all watches of it.
  void file_gone(int file);

  // The number has come back, by a dup, to a file that a forgotten registration of the same number still watches. The
  // system knows watches by number and file alone, so what a change of this one does is nobody's promise.
  bool meets_stale_watch(int fd) const;

  const Registration* find(int fd) const;
  const Registration* find_serial(unsigned serial) const;
  const std::vector<Registration>& books() const { return books_; }
  // What the next poll may say of this registration; nothing: it must be silent.
  std::optional<Said> ready(const Registration& registration) const;
  std::size_t ready_count() const;  // the wake too
  std::size_t stale_count() const;  // watches without a registration that may take a place in a batch
  // A poll with room for everything: each stale watch that is ready has fired. One that fired before, or one more than
  // the Reactor remembers, rids it of all watches but those that the numbers of its registrations lead to.
  void stale_fired();

 private:
  struct Watch {
    int file = -1;
    int fd = -1;
    unsigned serial = 0;
    int interest = 0;
    bool exclusive = false;
    bool fired = false;  // while stale
  };
  const Watch* watch_of(int fd) const;
  bool is_stale(const Watch& watch) const { return find_serial(watch.serial) == nullptr; }
  Said said(const Watch& watch) const { return files_->said(watch.file, watch.interest); }

  const Files* files_;
  unsigned identity_ = 0;
  bool wake_ = false;
  int fired_ = 0;  // stale watches that fired since the last rebuild
  std::vector<Registration> books_;
  std::vector<Watch> watches_;
};

}  // namespace flare::fuzz
