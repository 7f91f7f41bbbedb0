// worker_stats.h: what one worker has done so far, readable by any thread while it serves.   Public header.
// Threads:    counters: written by the owning worker, read by any. Error text: any.
// Owns:       its cells.
// Bounds:     fixed size; the error text is cut at limits::kErrorTextBytes.
// Errors:     none; error() and a copy_error to a string without room may throw std::bad_alloc.
// Ordering:   counters are relaxed stores of the single writer: a reader may see them some events late; after the
//             worker was joined a reader sees all.
// Invariants: INV-22; per worker accepted + received = finished + handed_out + cut + left.
// Not here:   the report (scheduler/shutdown_report.h).
// Source:     seeds, flare.runtime.scheduler (stats cell).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "flare/base/abi.h"
#include "flare/base/limits.h"
#include "flare/base/sync.h"
#include "flare/worker/connection.h"

namespace flare::inline FLARE_ABI {

inline constexpr std::size_t kCloseReasons = static_cast<std::size_t>(CloseReason::kCount_);

// The values at one moment.
struct WorkerSnapshot {
  std::uint64_t accepted = 0;
  std::uint64_t received = 0;
  std::uint64_t handed_out = 0;
  std::uint64_t refused = 0;   // pushes that a peer refused; the connection was served here
  std::uint64_t finished = 0;  // sum of by_reason
  std::array<std::uint64_t, kCloseReasons> by_reason{};
  std::uint64_t cut = 0;
  std::uint64_t timed_out = 0;  // the part of cut that cutting itself did, not a crash
  std::uint64_t drained = 0;    // the part of finished after draining was seen and before cut
  std::uint64_t live = 0;       // connections in the worker's table now, lingering ones too
  std::uint64_t requests = 0;   // counted by the protocol
  std::uint64_t handler_errors = 0;
  std::uint64_t ticks = 0;
  std::uint64_t wakes_sent = 0;
  std::uint64_t wakes_skipped = 0;  // the target was provably awake
  std::uint64_t stale_events = 0;
  std::uint64_t accept_errors = 0;
  std::uint64_t accept_pauses = 0;
  std::uint64_t passed_on = 0;   // waits on a shared listener passed to a peer
  std::uint64_t taken_back = 0;  // the part of received that came back from a stuck peer
  std::uint64_t timers = 0;      // pending in its wheel when a connection last came or went
  std::uint64_t queued = 0;      // tokens in its queue now
  std::int64_t heartbeat_age_ms = 0;
  bool sleeping = false;
  bool crashed = false;
  std::string error;  // of a crashed worker
};

// One counter: a single writer, any reader.
class Counter {
 public:
  void add(std::uint64_t n = 1) {
    // Relaxed: one writer, and a reader needs no other memory than this number.
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  Atomic<std::uint64_t> value_{0};
};

// Connections and timers of a worker in one cell: a reader sees both as of one moment, for the price of one store.
class LiveCounts {
 public:
  struct Values {
    std::uint32_t connections;
    std::uint32_t timers;
  };
  void set(std::size_t connections, std::size_t timers) {
    value_.store(std::uint64_t{timers} << 32 | static_cast<std::uint32_t>(connections), std::memory_order_relaxed);
  }
  Values get() const {
    const std::uint64_t both = value_.load(std::memory_order_relaxed);
    return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
  }

 private:
  Atomic<std::uint64_t> value_{0};
};

struct alignas(128) WorkerStats {
  Counter accepted, received, handed_out, refused, cut, timed_out, drained, requests, ticks;
  LiveCounts live;
  Counter wakes_sent, wakes_skipped, stale_events, accept_errors, accept_pauses, passed_on, taken_back;
  std::array<Counter, kCloseReasons> finished;
  Counter handler_errors;  // by the protocol: handlers that threw, whether or not the connection survived

  // The crashing worker, once, also when it has no memory left. Longer text is cut.
  void set_crashed(std::string_view text) noexcept FLARE_EXCLUDES(mutex_);
  bool crashed() const { return crashed_.load(std::memory_order_acquire); }
  std::string error() const FLARE_EXCLUDES(mutex_);
  // Allocates nothing when to has room for limits::kErrorTextBytes.
  void copy_error(std::string& to) const FLARE_EXCLUDES(mutex_);

 private:
  Atomic<bool> crashed_{false};  // release after the text is there, acquire in crashed()
  mutable Mutex mutex_;
  std::array<char, limits::kErrorTextBytes> error_ FLARE_GUARDED_BY(mutex_){};
  std::size_t error_size_ FLARE_GUARDED_BY(mutex_) = 0;
};

}  // namespace flare::inline FLARE_ABI
