// queues.h: the queues that bench_queue compares, behind one shape: push(token), pop(token), drain(tokens).
// Bounded ones have the same capacity. What the peers give as a drain is their best: in bulk where they have one.
#pragma once

#include <array>
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "flare/handoff/handoff_queue.h"
#if FLARE_BENCH_TBB
#include <oneapi/tbb/concurrent_queue.h>
#endif
#if FLARE_BENCH_CONCURRENTQUEUE
#include <concurrentqueue/concurrentqueue.h>
#endif
#if FLARE_BENCH_CK
#include "ck_queue.h"
#endif
#if FLARE_BENCH_URCU
#include <urcu/wfcqueue.h>
#endif

namespace flare::bench {

constexpr std::size_t kCapacity = 1024;
using Token = std::int64_t;

class Handoff {
 public:
  bool push(Token token) { return queue_.push(token); }
  bool pop(Token& token) {
    const std::optional<Token> taken = queue_.pop();
    if (taken) token = *taken;
    return taken.has_value();
  }
  void drain(std::vector<Token>& out) { queue_.drain(out); }

 private:
  HandoffQueue queue_{static_cast<int>(kCapacity)};
};

// The least that a bounded queue under a mutex can do: lock and indices in one cache line, no counters, no close.
class MutexRing {
 public:
  bool push(Token token) {
    const std::lock_guard lock(mutex_);
    if (count_ == kCapacity) return false;
    slots_[tail_] = token;
    tail_ = tail_ + 1 == kCapacity ? 0 : tail_ + 1;
    ++count_;
    return true;
  }
  bool pop(Token& token) {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return false;
    token = take();
    return true;
  }
  void drain(std::vector<Token>& out) {
    out.clear();
    const std::lock_guard lock(mutex_);
    while (count_ > 0) out.push_back(take());
  }

 private:
  Token take() {
    const Token token = slots_[head_];
    head_ = head_ + 1 == kCapacity ? 0 : head_ + 1;
    --count_;
    return token;
  }
  alignas(64) std::mutex mutex_;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
  std::uint32_t count_ = 0;
  alignas(64) std::array<Token, kCapacity> slots_{};
};

// Those that have no drain of their own take one after the other.
template <class Queue>
void drain_one_by_one(Queue& queue, std::vector<Token>& out) {
  out.clear();
  for (Token token = 0; queue.pop(token);) out.push_back(token);
}

template <class Queue>
class Boost {
 public:
  bool push(Token token) {
    if constexpr (requires(Queue& queue) { queue.bounded_push(token); }) {
      return queue_.bounded_push(token);
    } else {
      return queue_.push(token);
    }
  }
  bool pop(Token& token) { return queue_.pop(token); }
  void drain(std::vector<Token>& out) {
    out.clear();
    queue_.consume_all([&out](Token token) { out.push_back(token); });
  }

 private:
  Queue queue_{kCapacity};
};
using BoostQueue = Boost<boost::lockfree::queue<Token>>;
// One producer: the floor of what a push to another core can cost.
using BoostSingle = Boost<boost::lockfree::spsc_queue<Token>>;

#if FLARE_BENCH_TBB
class TbbQueue {
 public:
  TbbQueue() { queue_.set_capacity(kCapacity); }
  bool push(Token token) { return queue_.try_push(token); }
  bool pop(Token& token) { return queue_.try_pop(token); }
  void drain(std::vector<Token>& out) { drain_one_by_one(*this, out); }

 private:
  oneapi::tbb::concurrent_bounded_queue<Token> queue_;
};
#endif

#if FLARE_BENCH_CONCURRENTQUEUE
// With the tokens that its authors advise.
class Moodycamel {
 public:
  bool push(Token token) { return queue_.try_enqueue(producer_, token); }
  bool pop(Token& token) { return queue_.try_dequeue(consumer_, token); }
  void drain(std::vector<Token>& out) {
    out.resize(kCapacity);
    out.resize(queue_.try_dequeue_bulk(consumer_, out.data(), kCapacity));
  }

 private:
  moodycamel::ConcurrentQueue<Token> queue_{kCapacity};
  moodycamel::ProducerToken producer_{queue_};
  moodycamel::ConsumerToken consumer_{queue_};
};
#endif

#if FLARE_BENCH_CK
class CkRing {
 public:
  CkRing() = default;
  ~CkRing() { ck_queue_free(queue_); }
  CkRing(const CkRing&) = delete;
  CkRing& operator=(const CkRing&) = delete;
  bool push(Token token) { return ck_queue_push(queue_, token) != 0; }
  bool pop(Token& token) { return ck_queue_drain(queue_, &token, 1) == 1; }
  void drain(std::vector<Token>& out) {
    out.resize(kCapacity);
    out.resize(ck_queue_drain(queue_, out.data(), kCapacity));
  }

 private:
  ck_queue* queue_ = ck_queue_new(kCapacity);
};
#endif

#if FLARE_BENCH_URCU
// Unbounded, of nodes that somebody allocates: here they are there already.
class Urcu {
 public:
  Urcu() { cds_wfcq_init(&head_, &tail_); }
  ~Urcu() { cds_wfcq_destroy(&head_, &tail_); }
  Urcu(const Urcu&) = delete;
  Urcu& operator=(const Urcu&) = delete;
  bool push(Token token) {
    Node& node = nodes_[next_++ % kCapacity];
    node.token = token;
    cds_wfcq_node_init(&node.link);
    cds_wfcq_enqueue(cds_wfcq_head_cast(&head_), &tail_, &node.link);
    return true;
  }
  bool pop(Token& token) {
    cds_wfcq_node* taken = cds_wfcq_dequeue_blocking(&head_, &tail_);
    if (taken == nullptr) return false;
    token = reinterpret_cast<Node*>(taken)->token;  // the link is the node's first member
    return true;
  }
  void drain(std::vector<Token>& out) { drain_one_by_one(*this, out); }

 private:
  struct Node {
    cds_wfcq_node link;
    Token token;
  };
  cds_wfcq_head head_{};
  cds_wfcq_tail tail_{};
  std::array<Node, kCapacity> nodes_{};
  std::size_t next_ = 0;
};
#endif

}  // namespace flare::bench
