// machine.h: a simulated kernel: descriptors, epoll, eventfd, stream sockets of TCP on loopback and of unix pairs.
//
// Each call takes the process first and mirrors the Linux call of its name, with Linux constants; it never blocks:
// where Linux would, the call fails with EAGAIN, or connect with EINPROGRESS. Nothing happens between calls: on
// loopback a packet arrives before the call that sent it returns, and stalled() counts what waits for the kernel's
// timers. One thread; deterministic: the same calls and the same choices give the same answers. No memory is taken once
// the pools have grown. tests/sim/conformance/ runs the same scripts here and on the real kernel.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flare/base/result.h"
#include "machine/chooser.h"
#include "machine/fd_table.h"
#include "machine/objects.h"

namespace flare::sim {

using Process = unsigned;
inline constexpr Process kServer = 0;
inline constexpr Process kWorld = 1;

struct Sizes {
  std::size_t receive_bytes = 1024;  // TCP: what the reader's side holds
  std::size_t send_bytes = 512;      // TCP: what the writer's side holds beyond that
  std::size_t pair_bytes = 1024;     // unix: what was written and not read
  int descriptors = 1024;            // numbers of each process
};

// Keys of objects; a few, kept in the order of their finding.
class RelatedObjects {
 public:
  void clear() { count_ = 0; }
  void add(std::uint32_t key) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (keys_[i] == key) return;
    }
    if (count_ < keys_.size()) keys_[count_++] = key;
  }
  const std::uint32_t* begin() const { return keys_.data(); }
  const std::uint32_t* end() const { return keys_.data() + count_; }

 private:
  std::array<std::uint32_t, 64> keys_{};
  std::size_t count_ = 0;
};

struct OpenDescriptor {
  int fd = kNone;
  Kind kind = Kind::kEventfd;
  std::uint64_t generation = 0;
};

class Machine {
 public:
  explicit Machine(Chooser& chooser, const Sizes& sizes = {});
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // As new; costs what was used. Generations and ports start again.
  void reset();
  void reset(const Sizes& sizes);
  void set_limit(Process p, int descriptors);  // RLIMIT_NOFILE: numbers below it
  // As before Linux 5.7: a thread that was woken and has not run yet is woken once more, instead of another one.
  void set_waiters_stay(bool stay) { waiters_stay_ = stay; }

  // Descriptors.
  Status close(Process p, int fd);
  Result<int> dup(Process p, int fd);

  // epoll. take is epoll_wait with a timeout of 0. has_ready: the ready list is not empty, so that a thread does not
  // fall asleep; the list may hold what is no longer ready, then take gives 0.
  Result<int> epoll_create(Process p, int flags = 0);
  Status epoll_ctl(Process p, int ep, int op, int fd, std::uint32_t events, std::uint64_t data);
  Result<int> epoll_take(Process p, int ep, epoll_event* events, int max);
  bool epoll_has_ready(Process p, int ep) const;

  // A thread asleep inside epoll_wait; of several on one set the last to come is the first to wake. A wake takes it off
  // the queue of the sleeping: it then ends its wait, takes, and begins another one if it got nothing. The set lives
  // while somebody waits, as in Linux, whatever happens to its number: wait_take works until end_wait.
  Result<int> begin_wait(Process p, int ep);
  bool woken(int waiter) const { return waiters_[waiter].woken; }
  bool wait_has_ready(int waiter) const;
  Result<int> wait_take(int waiter, epoll_event* events, int max);
  void end_wait(int waiter);

  Result<int> eventfd(Process p, unsigned initial, int flags);
  // Of eventfd and sockets.
  Result<std::size_t> read(Process p, int fd, void* out, std::size_t size);
  Result<std::size_t> write(Process p, int fd, const void* data, std::size_t size);
  Result<std::uint64_t> eventfd_read(Process p, int fd);
  Status eventfd_write(Process p, int fd, std::uint64_t value);

  // Sockets. type: SOCK_STREAM with SOCK_NONBLOCK and SOCK_CLOEXEC.
  Result<int> socket(Process p, int family, int type);
  Status socketpair(Process p, int family, int type, int out[2]);
  Status setsockopt(Process p, int fd, int level, int name, int value);  // a linger: set_linger
  Status set_linger(Process p, int fd, bool on, int seconds);
  Result<int> getsockopt(Process p, int fd, int level, int name);  // reading SO_ERROR clears it
  Result<int> accept_backlog(Process p, int fd) const;             // tcpi_unacked of TCP_INFO
  Status bind(Process p, int fd, const sockaddr* address, socklen_t length);
  Status listen(Process p, int fd, int backlog);
  Result<int> accept4(Process p, int fd, int flags);
  // A socket that blocks gets 0 or ECONNREFUSED at once; one that does not gets EINPROGRESS, and by then it is decided.
  // Either gets EINPROGRESS, and nothing is decided, while the listener's queue is full.
  Status connect(Process p, int fd, const sockaddr* address, socklen_t length);
  Status getsockname(Process p, int fd, sockaddr_storage* out) const;
  Status getpeername(Process p, int fd, sockaddr_storage* out) const;
  Status shutdown(Process p, int fd, int how);
  Result<std::size_t> recv(Process p, int fd, void* out, std::size_t size);  // size above 0
  Result<std::size_t> send(Process p, int fd, const void* data, std::size_t size);
  // MSG_MORE: what is taken whole stands back until more, or the end of the stream, comes behind it. Linux lets it go
  // at some time in any case, and whoever counts on that is slow; here it stays.
  Result<std::size_t> send_held(Process p, int fd, const void* data, std::size_t size);
  Result<std::size_t> sendmsg(Process p, int fd, const iovec* parts, int count);

  // poll(2) with every bit asked for, error and hang-up included. Has what side effects Linux's has.
  Result<unsigned> poll_bits(Process p, int fd);

  // Connections that go on only when a timer of the kernel fires: a client whose SYN was dropped (the queue was full),
  // a deferred connection whose time is over or whose data found the queue full. retry(i): that timer fires.
  unsigned stalled() const { return static_cast<unsigned>(stalled_.size()); }
  void retry(unsigned index);
  void expire_time_wait() { time_waits_.clear(); }

  // For oracles.
  bool is_open(Process p, int fd) const { return find(p, fd) != nullptr; }
  std::uint64_t description_of(Process p, int fd) const;  // never given twice between resets; 0: no such number
  Kind kind_of(Process p, int fd) const { return find(p, fd)->kind; }  // of an open number
  bool nonblocking(Process p, int fd) const;
  bool close_on_exec(Process p, int fd) const { return tables_[p].close_on_exec(fd); }
  int open_count(Process p) const { return tables_[p].count(); }
  void list_open(Process p, std::vector<OpenDescriptor>& out) const;
  unsigned live_connections() const;    // pairs of which some process still holds a side, or may accept it
  std::size_t bytes_in_flight() const;  // sent, not read, and somebody can still read it
  // What calls on fd depend on and change, as keys: calls without a common key commute.
  void related(Process p, int fd, RelatedObjects& out) const;
  void related_listeners(RelatedObjects& out) const;
  bool refuses_more(Process p, int fd) const;  // a listener whose queue is full
  // While choose asks about "reuseport member" or "exclusive waiter": generations of the options' descriptions.
  const std::vector<std::uint64_t>& options() const { return options_; }

 private:
  // related.cpp
  void relate_sets(int description, RelatedObjects& out) const;
  void relate_socket(int socket, RelatedObjects& out) const;

  // descriptors.cpp
  Description* find(Process p, int fd);
  const Description* find(Process p, int fd) const;
  Result<int> find_socket(Process p, int fd) const;
  Result<int> open(Process p, Kind kind, int object, bool nonblocking, bool close_on_exec);
  int describe(Kind kind, int object, bool nonblocking);
  void drop(int description);
  WaitQueue& watchers_of(const Description& description);

  // wait_queue.cpp
  void watch(int item);
  void unwatch(int item);
  void wake(WaitQueue& queue, std::uint32_t key, bool all);
  bool notify(int item, std::uint32_t key);
  void make_ready(EpollSet& set, int item);
  void wake_waiter(EpollSet& set);

  // epoll_control.cpp, epoll_wait.cpp
  Result<int> find_set(Process p, int ep) const;
  int find_item(int set, int description, int fd) const;
  Status add_item(int set, int description, int fd, std::uint32_t events, std::uint64_t data);
  Status modify_item(int item, std::uint32_t events, std::uint64_t data);
  void remove_item(int item);
  int depth_below(int set, int sought) const;
  int depth_above(int set) const;
  void free_set(int set);
  Result<int> take(int set, epoll_event* events, int max);
  std::uint32_t item_mask(const Item& item) { return mask_of(descriptions_[item.description]) & item.events; }

  // readiness.cpp
  std::uint32_t mask_of(const Description& description);
  std::uint32_t eventfd_mask(const EventCounter& counter) const;
  std::uint32_t epoll_mask(EpollSet& set);
  std::uint32_t tcp_mask(Socket& socket);
  std::uint32_t unix_mask(const Socket& socket) const;
  bool writable(const Socket& socket) const;
  std::size_t unsent(const Socket& socket) const;  // bytes on the writer's side

  // socket.cpp, tcp_names.cpp
  int take_socket(int family);
  void free_socket(int socket);
  bool conflicts(int socket, const Address& local, bool strict) const;
  bool find_port(int socket, Address& local);
  bool may_bind(int socket, const Address& local);
  PortMemory& memory_of(std::uint16_t port);
  bool shares(const PortMemory& memory, const Socket& socket, const Address& local) const;
  void remember_bind(int socket, const Address& local, bool listens);
  Status bind_to(int socket, const Address& asked);
  void forget_address(Socket& socket);

  // tcp_listen.cpp
  bool may_listen(int socket);
  Status shutdown_listener(Socket& socket);
  void stop_listening(int listener);
  void enqueue(int listener, int child);
  void promote(int child);
  void deliver_deferred(int child);

  // tcp_connect.cpp
  Status begin_connect(int socket, Address to);
  bool connection_exists(const Address& from, const Address& to) const;
  int find_listener(const Address& to);
  void send_syn(int socket);
  void establish(int client, int listener);
  static void become_socket(Socket& child, const Socket& listener);
  void disconnect(Socket& socket);
  void stall(int socket) { stalled_.push_back(socket); }
  void unstall(int socket);

  // tcp_close.cpp
  void state_change(Socket& socket) { wake(socket.watchers, 0, true); }
  void finish(int socket);
  void time_wait(int socket);
  void send_reset(int socket);
  void receive_reset(int socket);
  void queue_fin(int socket);
  void send_fin(int socket);
  void receive_fin(int socket);
  void receive_fin_ack(int socket);
  void release_port(Socket& socket);
  void close_tcp(int socket);
  void close_unix(int socket);
  Status shutdown_unix(Socket& socket, unsigned how);
  Status shutdown_tcp(int socket, unsigned how);
  bool orphan(const Socket& socket) const { return socket.description == kNone && socket.listener == kNone; }

  // stream_io.cpp
  Result<std::size_t> send_tcp(int socket, const iovec* parts, int count, std::size_t total);
  void release_held(int socket);
  Result<std::size_t> send_unix(int socket, const iovec* parts, int count, std::size_t total);
  Result<std::size_t> recv_tcp(int socket, char* out, std::size_t size);
  Result<std::size_t> recv_unix(int socket, char* out, std::size_t size);
  bool refuses_data(const Socket& reader) const;
  void reset_both(int reader, int writer);
  void arrived(int socket);
  void room_for_sender(int reader, std::size_t unsent_before);
  int take_error(Socket& socket);

  Chooser& chooser_;
  Sizes sizes_;
  std::array<FdTable, 2> tables_;
  Pool<Description> descriptions_;
  Pool<Item> items_;
  Pool<EpollSet> sets_;
  Pool<Waiter> waiters_;
  Pool<EventCounter> counters_;
  Pool<Socket> sockets_;
  bool waiters_stay_ = false;
  std::vector<int> stalled_;
  std::vector<TimeWait> time_waits_;
  std::vector<PortMemory> ports_;
  std::vector<std::uint64_t> options_;
  std::vector<int> members_;
  std::uint64_t generation_ = 0;
  std::uint64_t listen_order_ = 0;
  unsigned next_port_ = 0;
};

}  // namespace flare::sim
