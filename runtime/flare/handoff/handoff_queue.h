// handoff_queue.h: bounded queue of opaque tokens from any worker to one owner.       Public header.
// Threads:    push, size, close, close_and_drain, counters: any thread. pop, drain: the owning worker; pop of a closed
//             queue: any thread. Moves: no other use.
// Owns:       nothing. A token is a number; whoever pops it must adopt or close the fd that it names.
// Bounds:     capacity tokens, memory fixed at construction. Capacity 0 refuses every push.
// Errors:     push returns false when full or closed. The constructor throws NetworkError(EINVAL): negative capacity.
//             Later only drain() and close_and_drain(), which return a new vector, and a drain(out) whose vector must
//             grow can throw (std::bad_alloc, and then nothing was taken or closed).
// Ordering:   what happened before a successful push is visible to the thread whose pop returns that token.
// Invariants: INV-01, INV-02, INV-03, INV-07.
// Not here:   waking the owner (Waker), choosing it (WorkerHandoffPool).
// Source:     seeds, flare.runtime.handoff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/limits.h"
#include "flare/base/sync.h"

namespace flare::inline FLARE_ABI {

class alignas(64) HandoffQueue {
 public:
  HandoffQueue();
  explicit HandoffQueue(int capacity);
  // The source is left empty, closed and with capacity 0. What is assigned to must be empty: its tokens would be lost.
  HandoffQueue(HandoffQueue&& other) noexcept;
  HandoffQueue& operator=(HandoffQueue&& other) noexcept;

  // Any thread. False: full or closed; the caller keeps the token. Never waits for room.
  bool push(std::int64_t token) {
    return push_if(token, [](std::uint32_t) { return true; });
  }
  // The owner; once the queue is closed, any thread. The oldest token; nothing when empty.
  std::optional<std::int64_t> pop() {
    const MutexLock lock(mutex_);
    if (count_now() == 0) return std::nullopt;
    return take();
  }
  // The owner. All tokens, oldest first. The second form clears out and reuses its memory.
  std::vector<std::int64_t> drain();
  void drain(std::vector<std::int64_t>& out);
  // Any thread. Of all callers exactly one gets each token; every later push is refused.
  std::vector<std::int64_t> close_and_drain();
  // Any thread. Every later push is refused; what stands there is popped, by whoever needs no memory for it.
  void close() noexcept;
  // The same, and take(token) for each token that stands there, oldest first. Needs no memory where take needs none.
  template <class Take>
  void close_and_pop(Take&& take) {
    close();
    while (const std::optional<std::int64_t> token = pop()) take(*token);
  }

  // Any thread. size and is_closed take no lock: what they say may be old when the caller reads it.
  std::size_t size() const { return count_.load(std::memory_order_acquire); }
  bool is_closed() const { return closed_.load(std::memory_order_acquire); }
  std::size_t capacity() const { return capacity_; }
  // Any thread. pushes - pops = size under one hold of the lock; close_and_drain counts what it takes as pops.
  std::uint64_t pushes() const;
  std::uint64_t pops() const;
  std::uint64_t refused() const;

  // --- Internal, for WorkerHandoffPool: a step of the caller's under the queue's lock. None may call the queue.
  // admit(count): may one more token join count others? Asked only if there is room; false refuses the push.
  template <class Admit>
  bool push_if(std::int64_t token, Admit&& admit) {
    const MutexLock lock(mutex_);
    if (refuses() || is_full() || !admit(count_now())) return refuse();
    if (FLARE_MUTANT(kQueueInsertsInSecondHold)) mutex_.unlock(), mutex_.lock();
    put(token);
    return true;
  }
  // The same for a token that is made only when it is sure to be taken. make() returns it, or nothing: then nothing is
  // pushed and that is no refusal.
  template <class Admit, class Make>
  bool push_made(Admit&& admit, Make&& make) {
    const MutexLock lock(mutex_);
    if (refuses() || is_full() || !admit(count_now())) return refuse();
    const std::optional<std::int64_t> token = make();
    if (token) put(*token);
    return token.has_value();
  }
  // on_taken(n): n tokens are about to leave, also for n = 0. It runs before size() falls.
  template <class OnTaken>
  void drain_with(std::vector<std::int64_t>& out, OnTaken&& on_taken) {
    out.reserve(size());  // before the lock is taken, so that the memory is there as a rule
    const MutexLock lock(mutex_);
    out.reserve(count_now());  // more may have come
    on_taken(count_now());
    take_all(out);
  }
  // Returns step(count, closed).
  template <class Step>
  auto under_lock(Step&& step) {
    const MutexLock lock(mutex_);
    return step(count_now(), closed_.load(std::memory_order_relaxed));
  }

 private:
  // What a move carries from one queue to another.
  struct Ring {
    std::unique_ptr<std::int64_t[]> slots;
    std::uint32_t capacity = 0;
    std::uint32_t head = 0;
    std::uint32_t tail = 0;
    std::uint32_t count = 0;
    bool closed = true;
    std::uint64_t pushes = 0;
    std::uint64_t refused = 0;
  };

  bool refuses() const FLARE_REQUIRES(mutex_) {
    return closed_.load(std::memory_order_relaxed) && !FLARE_MUTANT(kClosedQueueAccepts);
  }
  bool is_full() const FLARE_REQUIRES(mutex_) {
    if (FLARE_MUTANT(kQueueOverfull)) return count_now() > capacity_;
    if (FLARE_MUTANT(kQueueFullEarly)) return count_now() + 1 >= capacity_;
    return count_now() == capacity_;
  }
  // Relaxed: the lock's holder is the only writer.
  std::uint32_t count_now() const FLARE_REQUIRES(mutex_) { return count_.load(std::memory_order_relaxed); }
  bool refuse() FLARE_REQUIRES(mutex_);
  void put(std::int64_t token) FLARE_REQUIRES(mutex_) {
    slots_[tail_] = FLARE_MUTANT(kTokenNarrowed) ? static_cast<std::int32_t>(token) : token;
    if (++tail_ == capacity_) tail_ = 0;
    ++pushes_;
    count_.store(count_now() + 1, std::memory_order_release);
  }
  std::int64_t take() FLARE_REQUIRES(mutex_) {
    const std::int64_t token = slots_[head_];
    if (++head_ == capacity_ && !FLARE_MUTANT(kQueueNeverWraps)) head_ = 0;
    count_.store(count_now() - 1, std::memory_order_release);
    return token;
  }
  void take_all(std::vector<std::int64_t>& out) FLARE_REQUIRES(mutex_);
  void steal_from(HandoffQueue& other) noexcept;
  Ring give_up() noexcept;

  // One cache line: what every push and pop touches.
  mutable Mutex mutex_;
  std::uint32_t head_ FLARE_GUARDED_BY(mutex_) = 0;  // the next slot to leave
  std::uint32_t tail_ FLARE_GUARDED_BY(mutex_) = 0;  // the next slot to fill
  std::uint32_t capacity_;                           // constant but for moves
  // Written under the lock (release), read without it by size() (acquire): who sees a smaller count sees what
  // on_taken did before.
  Atomic<std::uint32_t> count_{0};
  // Written under the lock (release), read without it by is_closed() (acquire): a hint; push asks under the lock.
  Atomic<bool> closed_{false};

  alignas(64) std::unique_ptr<std::int64_t[]> slots_ FLARE_GUARDED_BY(mutex_);
  std::uint64_t pushes_ FLARE_GUARDED_BY(mutex_) = 0;  // what was pushed and does not stand there was popped
  std::uint64_t refused_ FLARE_GUARDED_BY(mutex_) = 0;
};

}  // namespace flare::inline FLARE_ABI
