// objects.h: what the machine is made of: open files, sockets, epoll sets and their items.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstdint>

#include "machine/address.h"
#include "machine/byte_queue.h"
#include "machine/pool.h"

namespace flare::sim {

// What in an item's events is not an interest: an item with nothing else is switched off, as by EPOLLONESHOT.
inline constexpr std::uint32_t kModes = EPOLLWAKEUP | EPOLLONESHOT | EPOLLET | EPOLLEXCLUSIVE;

enum class Kind : std::uint8_t { kEventfd, kEpoll, kSocket };

// One registration: keyed by the number and the open file description, as in Linux.
struct Item {
  int set = kNone;
  int description = kNone;
  int fd = kNone;
  std::uint32_t events = 0;
  std::uint64_t data = 0;
  bool exclusive = false;
  Links ready;    // in the set's ready list
  Links waiting;  // in the wait queue of what it watches
  Links of_set;
  Links of_file;
  void clear() { *this = Item{}; }
};

// Who wants to hear of a change: first the items that are not exclusive, the newest first, then the exclusive ones in
// the order in which they came.
struct WaitQueue {
  List<Item, &Item::waiting> items;
  int exclusive = 0;
};

// One thread inside epoll_wait.
struct Waiter {
  int description = kNone;
  bool woken = false;
  Links links;
  void clear() { *this = Waiter{}; }
};

struct EpollSet {
  std::uint64_t generation = 0;  // of its description
  List<Item, &Item::ready> ready;
  List<Item, &Item::of_set> items;
  List<Waiter, &Waiter::links> waiters;  // asleep; a woken one has left
  WaitQueue watchers;                    // sets that hold this one
  void clear() { *this = EpollSet{}; }
};

struct EventCounter {
  std::uint64_t count = 0;
  bool semaphore = false;
  WaitQueue watchers;
  void clear() { *this = EventCounter{}; }
};

enum class TcpState : std::uint8_t {
  kClosed,
  kListen,
  kSynSent,   // no answer yet: the listener's queue was full
  kDeferred,  // the server's side of a connection that is kept from accept until data comes
  kEstablished,
  kFinWait1,  // our FIN has not arrived: the peer's buffer is full
  kFinWait2,
  kClosing,
  kCloseWait,
  kLastAck
};

// What connect(2) knows: the state of the socket, not of the connection.
enum class Association : std::uint8_t { kUnconnected, kConnecting, kConnected, kDisconnecting };

inline constexpr unsigned kReceiveShutdown = 1;
inline constexpr unsigned kSendShutdown = 2;
inline constexpr unsigned kBothShutdown = 3;

struct SocketOptions {
  bool reuse_address = false;
  bool reuse_port = false;
  bool v6_only = false;
  bool nodelay = false;
  bool linger = false;
  int linger_seconds = 0;
  int defer_accept = 0;
};

struct SocketState {
  bool alive = false;
  int family = AF_INET;
  TcpState state = TcpState::kClosed;
  Association association = Association::kUnconnected;
  unsigned shutdown = 0;
  int error = 0;            // pending, for SO_ERROR
  bool done = false;        // a FIN came: end of file comes before a pending error
  bool no_space = false;    // somebody wants to hear of room to send
  bool fin_queued = false;  // our FIN waits behind bytes for which the peer has no room
  int description = kNone;  // kNone: closed, or not yet accepted
  int peer = kNone;
  int listener = kNone;  // while it waits for accept, or is deferred
  SocketOptions options;
  Address local;
  Address remote;            // port 0: never connected
  std::uint16_t owned = 0;   // the port that it keeps from others; 0: none
  bool port_locked = false;  // bound to a port by number: kept while the socket is open
  bool address_locked = false;
  int backlog = 0;
  std::uint64_t listen_order = 0;  // place in its reuseport group
};

struct Socket : SocketState {
  Links queued;  // in the listener's accept queue
  ByteQueue in;
  ByteQueue held;  // taken, and standing back until more comes behind it
  List<Socket, &Socket::queued> accept_queue;
  WaitQueue watchers;
  void clear() {
    static_cast<SocketState&>(*this) = SocketState{};
    queued = Links{};
    in.clear();
    held.clear();
    accept_queue = {};
    watchers = {};
  }
};

// An open file description: what numbers point to.
struct Description {
  Kind kind = Kind::kEventfd;
  int object = kNone;
  int references = 0;
  std::uint64_t generation = 0;
  bool nonblocking = false;
  List<Item, &Item::of_file> items;
  void clear() { *this = Description{}; }
};

// What Linux remembers of the binds of one port, to spare itself looking at all its sockets. It forgets it with the
// last of them. It is an optimisation that shows: a match with it passes where the look at all would refuse.
struct PortMemory {
  enum class Share : std::uint8_t { kNo, kAny, kSameAddress };
  std::uint16_t port = 0;
  bool all_reuse = false;
  Share share = Share::kNo;
  Address local;  // of the one that set it to kSameAddress
  int family = AF_INET;
  bool v6_only = false;
};

struct TimeWait {
  Address local;
  Address remote;
  SocketOptions options;
  int family = AF_INET;
};

}  // namespace flare::sim
