// kernel.h: what an operating system must supply: the contract of every backend.      Public header.
// Threads:    every call may come from any thread; calls on one descriptor follow the caller's own rules.
// Owns:       nothing. Every int that a call returns is owned by the caller, who closes it through close().
// Bounds:     each call does one system call and never retries it.
// Errors:     the errno of the call, captured at once. EINTR and EAGAIN are returned like any other.
// Ordering:   wake_signal happens before the poller_wait that reports it.
// Invariants: INV-10, INV-18, INV-20 rest on this contract; the suite kernel_contract runs it on every backend.
// Not here:   policy: retries, translation of tokens, back-off (reactor/, worker/).
// Source:     seeds, flare.runtime.reactor; epoll(7), eventfd(2), listen(2), accept(2), tcp(7).
//
// What is promised                                  | what is not
// --------------------------------------------------|----------------------------------------------------------
// level triggered: ready until consumed             | that one wait reports all that is ready
// exclusive: an add that took effect is exclusive   | balance: the same waiter may be woken each time
// a number is the lowest free one                   | that a closed number leaves a poller while a dup lives
// close() frees the number even when it fails       | that close() reports anything useful
// a disabled listener refuses and keeps its number  | that it stays silent in a poller that still holds it
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/result.h"
#include "flare/base/time.h"

namespace flare::inline FLARE_ABI {

// Interest in, and readiness of, a descriptor.
inline constexpr unsigned kReadable = 1U;
inline constexpr unsigned kWritable = 2U;
inline constexpr unsigned kErrorBit = 4U;     // readiness only
inline constexpr unsigned kHangup = 8U;       // readiness only: both directions are gone
inline constexpr unsigned kReadHangup = 16U;  // readiness only: the peer will send no more

struct ReadyEvent {
  std::uint64_t key = 0;  // what poller_add was given
  unsigned bits = 0;
};

enum class AddMode { kShared, kExclusive };

template <class K>
concept Kernel = requires(int fd, std::uint64_t key, unsigned interest, ReadyEvent* ready, int count, int timeout_ms,
                          void* buffer, const void* data, std::size_t size, const sockaddr* address, socklen_t length,
                          sockaddr_storage* out, const iovec* parts, const char* path, bool flag) {
  // Readiness. timeout_ms: -1 waits for ever, 0 not at all.
  { K::poller_open() } -> std::same_as<Result<int>>;
  { K::poller_add(fd, fd, key, interest, AddMode::kShared) } -> std::same_as<Status>;
  { K::poller_modify(fd, fd, key, interest) } -> std::same_as<Status>;
  { K::poller_remove(fd, fd) } -> std::same_as<Status>;
  { K::poller_wait(fd, ready, count, timeout_ms) } -> std::same_as<Result<int>>;
  // A wake: signal may be called by any thread and by a signal handler; clear makes it quiet again.
  { K::wake_open() } -> std::same_as<Result<int>>;
  { K::wake_signal(fd) } -> std::same_as<Status>;
  { K::wake_clear(fd) } -> std::same_as<Status>;
  { K::wait_readable(fd, timeout_ms) } -> std::same_as<Result<bool>>;
  // Stream sockets: non-blocking and close-on-exec, all of them.
  { K::socket_stream(count) } -> std::same_as<Result<int>>;
  { K::set_reuse_address(fd) } -> std::same_as<Status>;
  { K::set_reuse_port(fd) } -> std::same_as<Status>;
  { K::set_v6_only(fd, flag) } -> std::same_as<Status>;
  { K::set_nodelay(fd) } -> std::same_as<Status>;
  { K::set_defer_accept(fd, count) } -> std::same_as<Status>;
  { K::accept_backlog(fd) } -> std::same_as<Result<int>>;  // completed connections that wait for accept
  { K::bind(fd, address, length) } -> std::same_as<Status>;
  { K::listen(fd, count) } -> std::same_as<Status>;
  { K::local_address(fd, out) } -> std::same_as<Status>;
  { K::peer_address(fd, out) } -> std::same_as<Status>;
  { K::accept(fd) } -> std::same_as<Result<int>>;
  { K::disable_listener(fd) } -> std::same_as<Status>;  // shutdown(2): clients are refused, the number stays
  { K::shutdown_write(fd) } -> std::same_as<Status>;
  { K::recv(fd, buffer, size) } -> std::same_as<Result<std::size_t>>;
  { K::send(fd, data, size) } -> std::same_as<Result<std::size_t>>;  // never raises SIGPIPE
  // As send, but what is taken whole may stand back until more, or the end of the stream, comes behind it: the caller
  // follows up at once. close() may lose it. What is taken in part does not stand back.
  { K::send_held(fd, data, size) } -> std::same_as<Result<std::size_t>>;
  { K::send_parts(fd, parts, count) } -> std::same_as<Result<std::size_t>>;
  { K::close(fd) } -> std::same_as<Status>;
  // The machine.
  { K::allowed_cpus() } -> std::same_as<Result<std::vector<int>>>;
  { K::pin_current_thread(count) } -> std::same_as<Status>;
  { K::read_file(path) } -> std::same_as<Result<std::string>>;
  { K::now() } -> std::same_as<MonoTime>;
  { K::wall_seconds() } -> std::same_as<std::int64_t>;
  { K::random_u64() } -> std::same_as<std::uint64_t>;
  { K::write_error(data, size) } -> std::same_as<void>;  // stderr
};

}  // namespace flare::inline FLARE_ABI
