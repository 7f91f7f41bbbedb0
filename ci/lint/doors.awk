function offence(door, text) { gsub(/^[ \t]+/, "", text); printf "%s:%d: only %s may name this: %s\n", FILENAME, FNR, door, text; bad = 1 }
FNR == 1 { sync = FILENAME ~ /flare\/base\/sync\.(h|cpp)$/; kernel = FILENAME ~ /flare\/kernel\// }
kernel { gsub(/::pthread_(sigmask|setaffinity_np|getaffinity_np)/, "::") }  # of the calling thread, for a system call's sake
!sync && /(^|[^A-Za-z0-9_])(std::(recursive_|shared_|timed_)?mutex|std::atomic|std::j?thread|std::this_thread|std::condition_variable|std::(lock_guard|unique_lock|scoped_lock|shared_lock|async|future|promise|counting_semaphore|binary_semaphore|barrier|latch)|pthread_[a-z]|getenv|secure_getenv|setenv)/ { offence("base/sync.*", $0) }
!sync && /#[ \t]*include[ \t]*<(mutex|shared_mutex|atomic|thread|condition_variable|future|semaphore|barrier|latch|pthread.h|threads.h)>/ { offence("base/sync.*", $0) }
!kernel && /(^|[^A-Za-z0-9_])(epoll_(create|create1|ctl|wait|pwait|pwait2)|eventfd|kqueue|io_uring[a-z_]*|steady_clock|system_clock|high_resolution_clock|clock_gettime|gettimeofday|nanosleep|usleep|std::random_device|getrandom|sched_(set|get)affinity)([^A-Za-z0-9_]|$)/ { offence("kernel/", $0) }
!kernel && /(^|[^A-Za-z0-9_>:])::(socket|bind|listen|accept|accept4|connect|shutdown|close|read|write|readv|writev|recv|send|recvmsg|sendmsg|recvfrom|sendto|poll|ppoll|select|pipe|pipe2|dup|dup2|dup3|open|openat|fcntl|ioctl|getsockname|getpeername|setsockopt|getsockopt|time)[ \t]*\(/ { offence("kernel/", $0) }
!kernel && /#[ \t]*include[ \t]*<(unistd.h|fcntl.h|random|sys\/epoll.h|sys\/eventfd.h|sys\/event.h|sys\/random.h|sys\/ioctl.h|sys\/syscall.h|sys\/timerfd.h|time.h|ctime|poll.h)>/ { offence("kernel/", $0) }
!kernel && !sync && /#[ \t]*include[ \t]*<sched.h>/ { offence("kernel/ and base/sync.*", $0) }
END { exit bad }
