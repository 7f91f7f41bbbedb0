// thread_annotations.h: names for clang's thread safety attributes.                   Public header.
// Threads:    none.
// Owns:       nothing.
// Bounds:     none.
// Errors:     clang with -Wthread-safety reports a broken promise when it compiles. Other compilers see nothing.
// Ordering:   none.
// Invariants: none.
// Not here:   the capabilities themselves (base/sync.h, base/thread_role.h).
// Source:     own design.
#pragma once

#if defined(__clang__)
#define FLARE_ATTRIBUTE(x) __attribute__((x))
#else
#define FLARE_ATTRIBUTE(x)
#endif

#define FLARE_CAPABILITY(name) FLARE_ATTRIBUTE(capability(name))
#define FLARE_SCOPED_CAPABILITY FLARE_ATTRIBUTE(scoped_lockable)
#define FLARE_GUARDED_BY(x) FLARE_ATTRIBUTE(guarded_by(x))
#define FLARE_ACQUIRE(...) FLARE_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define FLARE_RELEASE(...) FLARE_ATTRIBUTE(release_capability(__VA_ARGS__))
#define FLARE_REQUIRES(...) FLARE_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define FLARE_EXCLUDES(...) FLARE_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define FLARE_ASSERT_CAPABILITY(x) FLARE_ATTRIBUTE(assert_capability(x))
