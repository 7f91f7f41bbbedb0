// faults.h: which errors a call may be made to give: only those that the manual page of the real call names.
#pragma once

#include <cerrno>

namespace flare::sim::faults {

// accept(2): EINTR and EAGAIN; "already-pending network errors" as one lost connection; limits; EPERM of a firewall.
inline constexpr int kAcceptErrors[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EPROTO, EPERM, EINTR, EAGAIN};
// epoll_create1(2)
inline constexpr int kPollerErrors[] = {EMFILE, ENFILE, ENOMEM};
// epoll_ctl(2): ADD may find no memory or no room under max_user_watches. MOD and DEL of a known item find both there.
inline constexpr int kAddErrors[] = {ENOMEM, ENOSPC};
// epoll_wait(2)
inline constexpr int kWaitErrors[] = {EINTR};
// eventfd(2)
inline constexpr int kWakeErrors[] = {EMFILE, ENFILE, ENODEV, ENOMEM};
// write(2) and read(2) on an eventfd
inline constexpr int kSignalErrors[] = {EINTR};
inline constexpr int kClearErrors[] = {EINTR};
// poll(2)
inline constexpr int kPollErrors[] = {EINTR, ENOMEM};
// socket(2)
inline constexpr int kSocketErrors[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM, EACCES};
// setsockopt(2) and tcp(7), ip(7)
inline constexpr int kOptionErrors[] = {ENOPROTOOPT, ENOMEM};
// bind(2)
inline constexpr int kBindErrors[] = {EACCES, EADDRINUSE, EADDRNOTAVAIL};
// listen(2)
inline constexpr int kListenErrors[] = {EADDRINUSE};
// getsockname(2), getpeername(2)
inline constexpr int kNameErrors[] = {ENOBUFS};
// recv(2): a reset that the other side did not send is none of them; memory may be short.
inline constexpr int kRecvErrors[] = {EINTR, EAGAIN, ENOMEM};
// send(2)
inline constexpr int kSendErrors[] = {EINTR, EAGAIN, ENOBUFS, ENOMEM};
// close(2): the number is free in any case.
inline constexpr int kCloseErrors[] = {EINTR, EIO};
// sched_setaffinity(2)
inline constexpr int kPinErrors[] = {EINVAL, EPERM};

}  // namespace flare::sim::faults
