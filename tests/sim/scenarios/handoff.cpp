#include "scenarios/handoff.h"

#include <deque>
#include <optional>

#include "engine/random.h"
#include "flare/handoff/worker_handoff_pool.h"

namespace flare::sim {

namespace {

void require(bool condition, const char* text) {
  Schedule::current()->require(condition, "handoff", text);
}

// The queue as a list: what each call must give.
class List {
 public:
  explicit List(int capacity) : capacity_(static_cast<std::size_t>(capacity)), queue_(capacity) {}

  void push(std::int64_t token) {
    const bool room = tokens_.size() < capacity_;
    require(queue_.push(token) == room, "a push is refused though there is room, or taken without");
    if (room) {
      tokens_.push_back(token);
    } else {
      ++refused_;
    }
    look();
  }
  void pop() {
    const std::optional<std::int64_t> token = queue_.pop();
    require(token.has_value() == !tokens_.empty(), "a pop gives what is not there, or not what is");
    if (token) {
      require(*token == tokens_.front(), "a pop gives another token than the oldest");
      tokens_.pop_front();
    }
    look();
  }
  void drain() {
    const std::vector<std::int64_t> all = queue_.drain();
    require(std::deque<std::int64_t>(all.begin(), all.end()) == tokens_, "a drain gives others, or in another order");
    tokens_.clear();
    look();
  }
  void close() {
    const std::vector<std::int64_t> all = queue_.close_and_drain();
    require(std::deque<std::int64_t>(all.begin(), all.end()) == tokens_, "the last drain gives other tokens");
    require(!queue_.push(1) && queue_.size() == 0, "a closed queue takes a token");
  }

 private:
  void look() const {
    require(queue_.size() == tokens_.size(), "the size is wrong");
    require(queue_.pushes() - queue_.pops() == tokens_.size(),
            "pushes and pops differ by something else than the size");
    require(queue_.refused() == refused_, "refused pushes are miscounted");
  }

  std::size_t capacity_;
  std::uint64_t refused_ = 0;
  HandoffQueue queue_;
  std::deque<std::int64_t> tokens_;
};

}  // namespace

Scenario queue_against_a_list() {
  Scenario scenario;
  scenario.name = "queue.list";
  scenario.body = [] {
    for (const int capacity : {1, 2, 3}) {
      List list(capacity);
      Random random(static_cast<std::uint64_t>(capacity));
      for (std::int64_t i = 0; i < 60; ++i) {
        switch (random.below(6)) {
          case 0:
            list.drain();
            break;
          case 1:
          case 2:
            list.pop();
            break;
          default:
            list.push(i << 33 | i);
            break;
        }
      }
      list.close();
    }
  };
  return scenario;
}

Scenario queue_last_slot() {
  Scenario scenario;
  scenario.name = "queue.last-slot";
  scenario.body = [] {
    HandoffQueue queue(1);
    bool accepted[2] = {false, false};
    Thread other = Thread::start([&] { accepted[0] = queue.push(10); }).value();
    accepted[1] = queue.push(11);
    other.join();
    require(accepted[0] != accepted[1], "the last slot was given to both, or to none");
    const std::vector<std::int64_t> all = queue.drain();
    require(all.size() == 1 && all.front() == (accepted[0] ? 10 : 11), "what was accepted is not what is there");
  };
  return scenario;
}

Scenario queue_push_meets_close() {
  Scenario scenario;
  scenario.name = "queue.push-meets-close";
  scenario.body = [] {
    HandoffQueue queue(2);
    bool accepted = false;
    Thread donor = Thread::start([&] { accepted = queue.push(10); }).value();
    const std::vector<std::int64_t> all = queue.close_and_drain();
    donor.join();
    require(all.size() == (accepted ? 1U : 0U), "a token has two owners, or none");
    require(queue.size() == 0, "a token is in a queue that nobody empties any more");
  };
  return scenario;
}

Scenario pool_choices() {
  Scenario scenario;
  scenario.name = "pool.choices";
  scenario.body = [] {
    WorkerHandoffPool pool(HandoffPolicy(true, 1, 2), 2);
    require(pool.peek_idle_worker(0) == 1, "the only peer is not chosen");
    pool.publish_load(1, 10);
    require(pool.choose_handoff_target(0, 3) == -1, "a busier peer is chosen");
    require(pool.choose_handoff_target(0, 12) == 1, "an idler peer is not chosen");
    require(pool.try_handoff(1, 5), "a push into an empty queue is refused");
    require(!pool.try_handoff(1, 6), "a push into a full queue is taken");
    require(pool.peek_idle_worker(0) == -1 && pool.choose_handoff_target(0, 100) == -1, "a full peer is chosen");
    require(pool.drain_local(1).size() == 1 && pool.load(1) == 11, "the drain does not count what it took");
    WorkerHandoffPool alone(HandoffPolicy(true, 1, 1), 1);
    require(alone.peek_idle_worker(0) == -1, "a worker is its own peer");
    WorkerHandoffPool off(HandoffPolicy(false, 1, 1), 2);
    require(!off.try_handoff(1, 7) && off.peek_idle_worker(0) == -1, "a disabled policy hands off");
  };
  return scenario;
}

Scenario pool_load_while_adopting() {
  Scenario scenario;
  scenario.name = "pool.load-while-adopting";
  scenario.body = [] {
    WorkerHandoffPool pool(HandoffPolicy(true, 2, 1), 2);
    pool.publish_load(0, 0);
    require(pool.try_handoff(0, 5), "a push into an empty queue is refused");
    Thread owner = Thread::start([&] { require(pool.drain_local(0).size() == 1, "the token is lost"); }).value();
    require(pool.load(0) >= 1, "a connection is in neither part of the load");
    owner.join();
    require(pool.load(0) == 1, "the load is not what was adopted");
  };
  return scenario;
}

}  // namespace flare::sim
