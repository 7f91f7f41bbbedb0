#include "support/fault_injection.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <utility>

namespace flare::testing::faults {

namespace {

struct Rule {
  std::atomic<long> calls{0};
  std::atomic<long> injected{0};
  std::atomic<long> first{0};  // 0: no rule. Written last, read first (release, acquire): it publishes the other two
  std::atomic<long> left{0};   // calls that are still to fail
  std::atomic<int> error{0};
};

constinit std::array<Rule, static_cast<std::size_t>(Symbol::kCount)> rules;
constinit std::atomic<int> wait_timeout{0};

Rule& rule_of(Symbol symbol) {
  return rules[static_cast<std::size_t>(symbol)];
}

thread_local constinit std::array<int, static_cast<std::size_t>(Symbol::kCount)> own_error{};

// The error of this call, 0 when it is to be made.
int verdict(Symbol symbol) {
  Rule& rule = rule_of(symbol);
  const long call = rule.calls.fetch_add(1) + 1;
  int& own = own_error[static_cast<std::size_t>(symbol)];
  if (own != 0) {
    rule.injected.fetch_add(1);
    return std::exchange(own, 0);
  }
  const long first = rule.first.load();
  // Counted down instead of up to a last number: a rule that was set while other threads made its calls still fires.
  if (first == 0 || call < first || rule.left.fetch_sub(1) <= 0) return 0;
  rule.injected.fetch_add(1);
  return rule.error.load();
}

bool fails(Symbol symbol) {
  const int error = verdict(symbol);
  if (error != 0) errno = error;
  return error != 0;
}

}  // namespace

void fail(Symbol symbol, long nth, int error, long times) {
  Rule& rule = rule_of(symbol);
  const long first = rule.calls.load() + nth;
  rule.first.store(0);
  rule.error.store(error);
  rule.left.store(times == kForEver ? std::numeric_limits<long>::max() / 2 : times);
  rule.first.store(first);
}

void fail_on_this_thread(Symbol symbol, int error) {
  own_error[static_cast<std::size_t>(symbol)] = error;
}

void reset() {
  for (Rule& rule : rules) {
    rule.first.store(0);
    rule.calls.store(0);
    rule.injected.store(0);
  }
}

long calls(Symbol symbol) {
  return rule_of(symbol).calls.load();
}

long all_calls() {
  long sum = 0;
  for (const Rule& rule : rules) sum += rule.calls.load();
  return sum - calls(Symbol::kEpollAdd);  // counted as kEpollCtl too
}

long injected(Symbol symbol) {
  return rule_of(symbol).injected.load();
}

int last_wait_timeout() {
  return wait_timeout.load();
}

}  // namespace flare::testing::faults

// The linker resolves __real_x only where x is wrapped. Weak, so that a program may wrap some of them: a __wrap_x that
// nobody refers to is never called.
// NOLINTBEGIN(bugprone-reserved-identifier): the linker chose these names
#define FLARE_REAL __attribute__((weak))
extern "C" {
using flare::testing::faults::fails;
using flare::testing::faults::Symbol;
using flare::testing::faults::verdict;

FLARE_REAL int __real_accept4(int, sockaddr*, socklen_t*, int);
int __wrap_accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  return fails(Symbol::kAccept4) ? -1 : __real_accept4(fd, address, length, flags);
}

FLARE_REAL int __real_epoll_create1(int);
int __wrap_epoll_create1(int flags) {
  return fails(Symbol::kEpollCreate1) ? -1 : __real_epoll_create1(flags);
}

FLARE_REAL int __real_epoll_ctl(int, int, int, epoll_event*);
int __wrap_epoll_ctl(int poller, int operation, int fd, epoll_event* event) {
  if (fails(Symbol::kEpollCtl) || (operation == EPOLL_CTL_ADD && fails(Symbol::kEpollAdd))) return -1;
  return __real_epoll_ctl(poller, operation, fd, event);
}

FLARE_REAL int __real_epoll_wait(int, epoll_event*, int, int);
int __wrap_epoll_wait(int poller, epoll_event* events, int max, int timeout) {
  flare::testing::faults::wait_timeout.store(timeout);
  if (fails(Symbol::kEpollWait)) return -1;
  const int ready = __real_epoll_wait(poller, events, max, timeout);
  return ready > 0 && verdict(Symbol::kEpollSilent) != 0 ? 0 : ready;
}

FLARE_REAL int __real_eventfd(unsigned, int);
int __wrap_eventfd(unsigned initial, int flags) {
  return fails(Symbol::kEventfd) ? -1 : __real_eventfd(initial, flags);
}

FLARE_REAL int __real_socket(int, int, int);
int __wrap_socket(int family, int type, int protocol) {
  return fails(Symbol::kSocket) ? -1 : __real_socket(family, type, protocol);
}

FLARE_REAL int __real_bind(int, const sockaddr*, socklen_t);
int __wrap_bind(int fd, const sockaddr* address, socklen_t length) {
  return fails(Symbol::kBind) ? -1 : __real_bind(fd, address, length);
}

FLARE_REAL int __real_listen(int, int);
int __wrap_listen(int fd, int backlog) {
  return fails(Symbol::kListen) ? -1 : __real_listen(fd, backlog);
}

FLARE_REAL int __real_setsockopt(int, int, int, const void*, socklen_t);
int __wrap_setsockopt(int fd, int level, int name, const void* value, socklen_t size) {
  return fails(Symbol::kSetsockopt) ? -1 : __real_setsockopt(fd, level, name, value, size);
}

FLARE_REAL int __real_getsockname(int, sockaddr*, socklen_t*);
int __wrap_getsockname(int fd, sockaddr* address, socklen_t* length) {
  return fails(Symbol::kGetsockname) ? -1 : __real_getsockname(fd, address, length);
}

FLARE_REAL int __real_close(int);
int __wrap_close(int fd) {
  const int error = verdict(Symbol::kClose);
  const int result = __real_close(fd);
  if (error == 0) return result;
  errno = error;
  return -1;
}

FLARE_REAL int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  const int error = verdict(Symbol::kPthreadCreate);  // returned, not put into errno
  return error != 0 ? error : __real_pthread_create(thread, attributes, body, argument);
}

FLARE_REAL ssize_t __real_recv(int, void*, size_t, int);
ssize_t __wrap_recv(int fd, void* buffer, size_t size, int flags) {
  return fails(Symbol::kRecv) ? -1 : __real_recv(fd, buffer, size, flags);
}

FLARE_REAL ssize_t __real_send(int, const void*, size_t, int);
ssize_t __wrap_send(int fd, const void* data, size_t size, int flags) {
  return fails(Symbol::kSend) ? -1 : __real_send(fd, data, size, flags);
}

FLARE_REAL ssize_t __real_sendmsg(int, const msghdr*, int);
ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  return fails(Symbol::kSendmsg) ? -1 : __real_sendmsg(fd, message, flags);
}

FLARE_REAL ssize_t __real_read(int, void*, size_t);
ssize_t __wrap_read(int fd, void* buffer, size_t size) {
  return fails(Symbol::kRead) ? -1 : __real_read(fd, buffer, size);
}

FLARE_REAL ssize_t __real_write(int, const void*, size_t);
ssize_t __wrap_write(int fd, const void* data, size_t size) {
  return fails(Symbol::kWrite) ? -1 : __real_write(fd, data, size);
}

FLARE_REAL int __real_poll(pollfd*, nfds_t, int);
int __wrap_poll(pollfd* entries, nfds_t count, int timeout) {
  return fails(Symbol::kPoll) ? -1 : __real_poll(entries, count, timeout);
}

FLARE_REAL int __real_connect(int, const sockaddr*, socklen_t);
int __wrap_connect(int fd, const sockaddr* address, socklen_t length) {
  return fails(Symbol::kConnect) ? -1 : __real_connect(fd, address, length);
}

FLARE_REAL int __real_shutdown(int, int);
int __wrap_shutdown(int fd, int how) {
  return fails(Symbol::kShutdown) ? -1 : __real_shutdown(fd, how);
}

FLARE_REAL int __real_getsockopt(int, int, int, void*, socklen_t*);
int __wrap_getsockopt(int fd, int level, int name, void* value, socklen_t* size) {
  return fails(Symbol::kGetsockopt) ? -1 : __real_getsockopt(fd, level, name, value, size);
}
}
// NOLINTEND(bugprone-reserved-identifier)
