// call.h: one call of a script, as data: any list of calls is a script, so one may be left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flare::sim::conformance {

enum class Op : std::uint8_t {
  kEpollCreate,  //
  kAdd,          // fd: the set, other: the descriptor, events
  kModify,       // the same
  kRemove,       // fd, other
  kTake,         // fd, value: at most
  kEventfd,      // value: initial, other: 1 for a semaphore
  kRead,         // fd, value: size
  kWrite,        // fd, value: what to add
  kSocket,       // value: 1 for one that blocks in connect
  kPair,         //
  kOption,       // fd, other: which, value
  kReadOption,   // fd, other: which
  kLinger,       // fd, value: on
  kBacklog,      // fd
  kBind,         // fd, other: a port by number from 1, 0: any port, -1: any address and port
  kListen,       // fd, value: backlog
  kAccept,       // fd, value: flags
  kConnect,      // fd, other: the socket whose name is the target, below 0: a port by number
  kName,         // fd
  kPeer,         // fd
  kShutdown,     // fd, value: how
  kRecv,         // fd, value: size
  kSend,         // fd, value: size
  kSendParts,    // fd, value: size of each of two
  kClose,        // fd
  kDup,          // fd
  kLimit,        // value
  kPoll,         // fd
  kCount
};

struct Call {
  Op op = Op::kEpollCreate;
  int fd = 0;
  int other = 0;
  int value = 0;
  std::uint32_t events = 0;
};

struct Script {
  int limit = 16;       // numbers
  bool ordered = true;  // batches are compared with their order
  std::vector<Call> calls;
};

const char* name_of(Op op);
std::string describe(const Call& call);
std::string describe(const Script& script);

}  // namespace flare::sim::conformance
