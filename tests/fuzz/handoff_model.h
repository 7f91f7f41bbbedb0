// handoff_model.h: what a WorkerHandoffPool must do, used by one thread: plain queues and plain numbers.
// Threads:    one.
// Owns:       its lists.
// Bounds:     none.
// Source:     worker_handoff_pool.h and handoff_queue.h. Which of several equally loaded peers is chosen is left open.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

namespace flare::fuzz {

struct PoolShape {
  bool enabled = true;
  int capacity = 2;
  int threshold = 1;
  int workers = 2;
  int cap = 0;  // of connections; 0: none
};

class HandoffModel {
 public:
  struct Worker {
    std::deque<std::int64_t> queue;
    bool closed = false;
    bool crashed = false;
    bool paused = false;
    bool asleep = false;
    bool woken = false;  // asleep, and somebody sends the wake
    bool asked = false;  // to accept
    bool published = false;
    std::int64_t live = 0;
    bool beats = false;  // it has published a heartbeat
    std::int64_t heartbeat_ms = 0;
    std::uint64_t pushes = 0;
    std::uint64_t pops = 0;
    std::uint64_t refused = 0;
    std::uint64_t drains = 0;
  };

  explicit HandoffModel(const PoolShape& shape) : shape_(shape), workers_(static_cast<std::size_t>(shape.workers)) {}

  bool is_worker(int id) const { return id >= 0 && id < shape_.workers; }
  Worker& worker(int id) { return workers_[static_cast<std::size_t>(id)]; }
  const Worker& worker(int id) const { return workers_[static_cast<std::size_t>(id)]; }
  int paused_count() const;
  std::int64_t load(int id) const;
  bool below_cap(int id) const { return is_worker(id) && (shape_.cap == 0 || load(id) < shape_.cap); }
  bool is_any_peer_below_cap(int exclude) const;

  bool push(int target, std::int64_t token);         // try_handoff
  bool push_orphan(int target, std::int64_t token);  // neither the switch nor the cap count
  std::vector<std::int64_t> drain(int id);
  std::vector<std::int64_t> close_and_drain(int id);
  std::vector<std::int64_t> take_back(int from, int taker);
  bool begin_sleep(int id);
  void end_sleep(int id) { worker(id).asleep = worker(id).woken = false; }
  bool needs_wake(int id);
  bool request_accept(int id);
  bool take_accept_request(int id);

  // Those of whom one must be chosen; none: -1 must be.
  std::set<int> idle_peers(int exclude) const;
  std::set<int> handoff_targets(int local, std::int64_t local_load) const;
  std::set<int> orphan_targets(int exclude) const;
  std::set<int> acceptors(int exclude) const;
  std::set<int> paused_peers(int exclude) const;

 private:
  bool has_room(int id) const { return worker(id).queue.size() < static_cast<std::size_t>(shape_.capacity); }
  bool put(int target, std::int64_t token, bool admitted);
  std::vector<std::int64_t> empty(int id);
  bool is_stuck(int id, int caller) const;
  template <class Fits>
  std::set<int> least_loaded(int exclude, Fits fits) const;

  PoolShape shape_;
  std::vector<Worker> workers_;
};

}  // namespace flare::fuzz
