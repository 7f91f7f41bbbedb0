// limits.h: every bound of the runtime, in one place.                                 Public header.
// Threads:    constants.
// Owns:       nothing.
// Bounds:     these.
// Errors:     none.
// Ordering:   none.
// Invariants: every queue, loop, batch and wait of runtime/ takes its number from here or from an option.
// Not here:   limits of HTTP messages (http/http_config.h).
// Source:     own design; seeds for workers, capacity, threshold and the poll cap.
#pragma once

#include <chrono>
#include <cstddef>

#include "flare/base/abi.h"

namespace flare::inline FLARE_ABI::limits {

using std::chrono::milliseconds;

inline constexpr int kMinWorkers = 1;
inline constexpr int kMaxWorkers = 256;
inline constexpr int kDefaultHandoffCapacity = 64;
inline constexpr int kMaxHandoffCapacity = 1 << 20;  // of a started server: 8 MiB for each worker
inline constexpr int kDefaultStealThreshold = 4;
inline constexpr int kDefaultMaxEvents = 64;         // Reactor::poll
inline constexpr int kLoopMaxEvents = 512;           // the serving loop's batch
inline constexpr int kMaxPollEvents = 4096;          // Reactor::poll gives no more, whatever it is asked for
inline constexpr int kStaleKeys = 8;                 // stale registrations that a Reactor remembers before it rebuilds
inline constexpr int kAcceptBudget = 64;             // accepts of one worker in one tick
inline constexpr int kDefaultBacklog = 1024;         // the kernel caps it at net.core.somaxconn
inline constexpr int kReportsPerSecond = 10;         // lines on stderr
inline constexpr int kAcceptDryMax = 16384;          // accepts of the last pass of a drain or a crash
inline constexpr milliseconds kPollCap{100};         // longest sleep of a worker
inline constexpr milliseconds kStuckAfter{100};      // heartbeat age at which an awake worker is no target
inline constexpr milliseconds kTakeBackAfter{1000};  // a token that waited this long goes back to its donor
inline constexpr milliseconds kTargetPoll{10};       // how often a donor that would leave looks at its targets' queues
inline constexpr milliseconds kMaxGrace{50};         // of draining: min(this, timeout / 4)
inline constexpr milliseconds kDeferredGrace{1200};  // of draining, for a silent client of a listener that defers
inline constexpr milliseconds kJoinGrace{100};       // from cut to "stuck"
inline constexpr milliseconds kAcceptRetryMin{10};   // pause at EMFILE and its kin, doubling
inline constexpr milliseconds kAcceptRetryMax{100};
inline constexpr milliseconds kLingerTotal{5000};        // FIN to close, at most
inline constexpr milliseconds kLingerQuiet{500};         // FIN to close, without a byte from the peer
inline constexpr std::size_t kLingerBytes = 64 << 20;    // discarded at most
inline constexpr std::size_t kScratchBytes = 64 << 10;   // read buffer that a worker's connections share
inline constexpr std::size_t kErrorTextBytes = 512;      // of a crashed worker's error that is kept
inline constexpr std::size_t kReadFileBytes = 64 << 10;  // of one file of the system (cgroup limits)

}  // namespace flare::inline FLARE_ABI::limits
