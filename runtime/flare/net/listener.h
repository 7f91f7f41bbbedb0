// listener.h: a bound and listening socket, and the two ways to share an address.     Public header.
// Threads:    bind_*: the control thread. accept: any worker that serves it. disable: any, once takes effect.
// Owns:       the descriptor; its number is freed by the destructor only, never by disable (INV-11).
// Bounds:     backlog as given; the kernel caps it at net.core.somaxconn.
// Errors:     bind_* throws NetworkError that names the address. accept returns the errno.
// Ordering:   disable happens before a later is_disabled that returns true.
// Invariants: INV-11, INV-12.
// Not here:   when to accept (worker/acceptor.h).
// Source:     seeds, flare.runtime.scheduler: listener strategy.
#pragma once

#include <vector>

#include "flare/base/abi.h"
#include "flare/base/result.h"
#include "flare/base/sync.h"
#include "flare/base/unique_fd.h"
#include "flare/net/socket_address.h"

namespace flare::inline FLARE_ABI {

struct ListenerOptions {
  int backlog;              // limits::kDefaultBacklog
  bool nodelay = true;      // TCP_NODELAY, inherited by accepted sockets
  bool dual_stack = false;  // an IPv6 listener serves IPv4 too
  bool share_port = false;  // let another process of this user bind the same port (SO_REUSEPORT)
  // TCP_DEFER_ACCEPT: a client is not seen until it speaks, or for about so long; 0: off. A drain gives silent ones
  // limits::kDeferredGrace to come up, and resets the rest.
  int defer_accept_s = 0;
  ListenerOptions();
};

class Listener {
 public:
  Listener(UniqueFd fd, SocketAddress address, bool shared, bool defers = false);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return fd_.get(); }
  // Where it is really bound: port 0 is resolved.
  const SocketAddress& address() const { return address_; }
  // One queue for all workers (EPOLLEXCLUSIVE), or this worker's own (SO_REUSEPORT).
  bool shared() const { return shared_; }
  // As a rule a client that is accepted has spoken already (ListenerOptions::defer_accept_s).
  bool defers() const { return defers_; }
  // Any thread, any number of times: clients are seen as they come, and those who are silent when the system next asks
  // for them, at most about a second later where defer_accept_s is 1.
  void stop_deferring() const noexcept;
  // An accepted descriptor: non-blocking, close-on-exec. Would-block is EAGAIN.
  Result<int> accept() const;
  // Clients that the kernel has connected and nobody accepted yet; 0 when it can't be told.
  int waiting_clients() const;
  // Refuses clients from now on; the number stays. Only the first caller gets true.
  bool disable();
  bool is_disabled() const;

 private:
  UniqueFd fd_;  // the same until the end
  const SocketAddress address_;
  const bool shared_;
  const bool defers_;
  Atomic<bool> disabled_{false};  // acq_rel: whoever reads true sees a listener that refuses
};

// One listener that all workers serve.
Shared<Listener> bind_shared(const SocketAddress& address, const ListenerOptions& options);
// count listeners on one address, one for each worker. A busy port fails even though SO_REUSEPORT would hide it,
// unless options.share_port says that sharing is meant. Port 0 is resolved once. A failure leaves nothing open.
std::vector<Shared<Listener>> bind_reuseport(const SocketAddress& address, int count, const ListenerOptions& options);

}  // namespace flare::inline FLARE_ABI
