// connection.h: what a protocol supplies for one accepted socket, and what it may ask of the loop.   Public header.
// Threads:    every call: the worker that owns the connection. Nothing here is shared.
// Owns:       the serving loop owns the socket and the Connection; a Connection owns its protocol state only and never
//             closes, registers or shuts down the socket.
// Bounds:     a turn does bounded work (read at most the scratch buffer, answer at most a few requests) and asks for
//             another one with Step::again; the loop gives other connections their turn in between.
// Errors:     what a call throws closes this connection (counted as kHandlerThrew), never the worker.
// Ordering:   none.
// Invariants: INV-19, INV-21.
// Not here:   HTTP (http/), accepting (acceptor.h), the loop (serving_loop.h).
// Source:     own design; seeds, flare.runtime.scheduler (Frontend).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "flare/base/abi.h"
#include "flare/base/time.h"
#include "flare/net/socket_address.h"

namespace flare::inline FLARE_ABI {

// Why a connection was finished; each is counted apart in WorkerStats.
enum class CloseReason : std::uint8_t {
  kAnswered,       // the last answer was sent, or the protocol is done
  kPeerGone,       // end of stream or reset by the peer
  kDeadline,       // the connection's own deadline: idle, head, body, write
  kProtocolError,  // the peer broke the protocol and was told so
  kHandlerThrew,   // a handler threw after its answer had begun, or a call of Connection threw
  kIdleDrained,    // nothing was asked within the grace of a drain
  kSetupFailed,    // no memory or no registration for it
  kCount_
};

// What the loop shall do after a call.
struct Step {
  enum class Kind : std::uint8_t {
    kKeep,    // go on: wait for `interest` until `deadline`
    kClose,   // close now: nothing unread may stand in the socket that an answer depends on
    kLinger,  // all is sent: FIN, read and discard within bounds, close (DESIGN: no answer turns into a
              // reset)
  };
  Kind kind = Kind::kKeep;
  bool again = false;  // kKeep: has work without a new event; gets on_turn soon
  int interest = 0;    // kKeep: INTEREST_READ | INTEREST_WRITE; 0 waits for deadline or turn only
  CloseReason reason = CloseReason::kAnswered;  // kClose, kLinger
  bool ended = false;                           // kLinger: the protocol has shut its side down already
  MonoTime deadline = kNever;                   // kKeep: when on_deadline is due

  static Step keep(int interest, MonoTime deadline = kNever) { return {.interest = interest, .deadline = deadline}; }
  static Step keep_and_return(int interest, MonoTime deadline = kNever) {
    return {.again = true, .interest = interest, .deadline = deadline};
  }
  static Step close(CloseReason reason) { return {.kind = Kind::kClose, .reason = reason}; }
  static Step linger(CloseReason reason, bool ended = false) {
    return {.kind = Kind::kLinger, .reason = reason, .ended = ended};
  }
};

// What was ready. hup means that both directions are gone or the peer will send no more: read() == 0 decides.
struct Readiness {
  bool readable = false;
  bool writable = false;
  bool error = false;
  bool hup = false;
};

// What a Connection can reach during one call; valid for that call only.
struct Wire {
  int fd;           // for SystemKernel::recv, send, send_held, send_parts, shutdown_write, peer_address
  MonoTime now;     // read just before this call; who takes long asks SystemKernel::now() again
  int worker;       // the worker that serves
  int accepted_by;  // the worker that accepted
  char* scratch;    // read buffer that this worker's connections share
  std::size_t scratch_size;
  bool draining;  // the worker has seen draining
};

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  // Once, when the worker adopts the socket.
  virtual Step on_open(const Wire& wire) = 0;
  // A half that was asked for is ready, as a rule (a call that then would block is no error), or an error or hangup
  // stands. On the worker that accepted the connection it may follow on_open at once.
  virtual Step on_ready(const Wire& wire, Readiness ready) = 0;
  // After Step::again.
  virtual Step on_turn(const Wire& wire) = 0;
  // The deadline of the last Step has passed.
  virtual Step on_deadline(const Wire& wire) = 0;
  // Once, when the worker sees draining (or, for a connection adopted later, right after on_open). From now
  // on: every request read whole is answered, else the one of which a part was read, else the first that
  // arrives within the grace. The last answer says that it is the last; the protocol then asks for kLinger.
  virtual Step on_drain(const Wire& wire) = 0;
  // Once, when the grace is over: read once more; if nothing at all was asked, linger with kIdleDrained.
  virtual Step on_grace_over(const Wire& wire) = 0;
  // True while a request was read, in whole or in part, and its answer is not yet sent.
  virtual bool unanswered() const = 0;
};

// Makes the state of an accepted socket. One Protocol per worker, called by that worker only.
class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;
  // std::bad_alloc costs this one connection.
  virtual std::unique_ptr<Connection> open() = 0;
};

}  // namespace flare::inline FLARE_ABI
