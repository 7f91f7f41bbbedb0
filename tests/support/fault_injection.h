// fault_injection.h: makes chosen calls of the system fail, in programs linked with --wrap.
//
// flare_test(NAME x ... LIBS flare_fault_injection WRAP accept4 epoll_ctl) replaces these two symbols in all that is
// linked statically into x: the runtime and the test itself, not the C library or the sanitizers. What is not in
// WRAP is never counted and never fails. All functions: any thread; a rule is set before the calls that it is for.
#pragma once

namespace flare::testing::faults {

enum class Symbol {
  kAccept4,
  kEpollCreate1,
  kEpollCtl,
  kEpollAdd,  // the calls of epoll_ctl that add a descriptor; they count as kEpollCtl too
  kEpollWait,
  kEpollSilent,  // the calls of epoll_wait that found something: one that "fails" says that there is nothing
  kEventfd,
  kSocket,
  kBind,
  kListen,
  kSetsockopt,
  kGetsockname,
  kClose,  // a failing close really closes first, as Linux does
  kPthreadCreate,
  kRecv,
  kSend,
  kSendmsg,
  kRead,
  kWrite,
  kPoll,
  kConnect,
  kShutdown,
  kGetsockopt,
  kCount,
};

inline constexpr int kForEver = -1;

// The nth call of symbol from now on (1 is the next one) fails with error, and so do the times - 1 calls after it;
// calls that other threads make while the rule is being set may put it off, never away. One
// rule for each symbol: a new one replaces it.
void fail(Symbol symbol, long nth, int error, long times = 1);
// The next call of symbol that this thread makes fails with error, whatever others do.
void fail_on_this_thread(Symbol symbol, int error);
// No rules, all counters 0. A rule of another thread's own stays.
void reset();
// Calls of symbol since the last reset, the failed ones too.
long calls(Symbol symbol);
// Calls of all symbols since the last reset, each once.
long all_calls();
// How many of them this file made fail.
long injected(Symbol symbol);
// The timeout that the last epoll_wait of any thread was given.
int last_wait_timeout();

// Resets at both ends of a scope.
struct Scope {
  Scope() { reset(); }
  ~Scope() { reset(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

}  // namespace flare::testing::faults
