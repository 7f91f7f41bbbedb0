#include <chrono>
#include <memory>

#include "engine_tests/small_runs.h"
#include "flare/base/limits.h"
#include "flare/handoff/worker_handoff_pool.h"
#include "flare/net/listener.h"
#include "flare/worker/stop_cell.h"
#include "flare/worker/worker_stats.h"
#include "scenarios/server_world.h"
#include "weak_orders/scenarios.h"

namespace flare::sim {

namespace {

using Data = Checked<int>;

void expect_written(const Data& data) {
  require(data == 1, "visibility", "what was done before is not there");
}

// The first thread writes the data, then acts; the second looks, and if it saw the act it uses the data.
template <class Part, class Act, class Look>
Scenario publication(const char* name, std::function<std::unique_ptr<Part>()> make, Act act, Look look) {
  return server_scenario(name, {}, [make = std::move(make), act, look] {
    const std::unique_ptr<Part> part = make();
    const auto data = std::make_unique<Data>(0);
    run_together({[&] {
                    *data = 1;
                    act(*part);
                  },
                  [&] {
                    if (look(*part)) expect_written(*data);
                  }});
  });
}

Scenario queue_count() {
  return server_scenario("queue-count", {}, [] {
    const auto queue = std::make_unique<HandoffQueue>(4);
    const auto data = std::make_unique<Data>(0);
    for (int i = 0; i < 3; ++i) queue->push(i);
    run_together({[&] {
                    std::vector<std::int64_t> out;
                    queue->drain_with(out, [&data](std::int64_t) { *data = 1; });
                    queue->push(4);
                    queue->push(5);
                    static_cast<void>(queue->pop());
                  },
                  [&] {
                    if (queue->size() < 3) expect_written(*data);
                  }});
  });
}

std::unique_ptr<HandoffQueue> open_queue() {
  return std::make_unique<HandoffQueue>(4);
}
bool sees_closed(HandoffQueue& queue) {
  return queue.is_closed();
}

std::unique_ptr<StopCell> running_cell() {
  return std::make_unique<StopCell>();
}

// Both do the same; the one that was not the first uses what the first did before.
Scenario disabled_listener() {
  Setup setup;
  return server_scenario("listener", setup, [] {
    const Shared<Listener> listener = bind_shared(SocketAddress::loopback_v4(), ListenerOptions());
    const auto first = std::make_unique<Data>(0);
    const auto second = std::make_unique<Data>(0);
    run_together({[&] {
                    *first = 1;
                    if (!listener->disable()) expect_written(*second);
                  },
                  [&] {
                    *second = 1;
                    if (!listener->disable()) expect_written(*first);
                  }});
  });
}

HandoffPolicy policy() {
  return HandoffPolicy(true, 2, 1);
}

std::unique_ptr<WorkerHandoffPool> pool_of_two() {
  return std::make_unique<WorkerHandoffPool>(policy(), 2, 1);
}

// Worker 0 frees its only place, worker 1 pauses for want of one.
Scenario place_and_pause() {
  return server_scenario("place-and-pause", {}, [] {
    const auto pool = pool_of_two();
    pool->publish_load(0, 1);
    pool->publish_load(1, 1);
    bool asks = false;
    bool tries = false;
    run_together({[&] {
                    pool->publish_load(0, 0);
                    asks = pool->paused_count() > 0;
                    if (asks) require(pool->paused_peer(0) == 1, "pause", "the count is raised, the cell is not found");
                  },
                  [&] {
                    pool->publish_paused(1, true);
                    tries = pool->below_cap(0);
                  }});
    require(asks || tries, "pause", "neither saw the other: a place is free and nobody takes it");
  });
}

// Worker 0 slept for long and wakes: it is asleep or it has a fresh heartbeat, never stuck.
Scenario heartbeat() {
  return server_scenario("heartbeat", {}, [] {
    const auto pool = pool_of_two();
    const MonoTime before(Duration(std::chrono::seconds(1)));
    const MonoTime after = before + 2 * Duration(limits::kStuckAfter);
    pool->publish_heartbeat(0, before);
    require(pool->begin_sleep(0), "sleep", "nothing waits, and the worker cannot sleep");
    pool->publish_heartbeat(1, after);
    run_together(
        {[&] {
           pool->publish_heartbeat(0, after);
           pool->end_sleep(0);
         },
         [&] { require(pool->peek_idle_worker(1) == 0, "stuck", "a worker that has just woken looks stuck"); }});
  });
}

// Tokens that are drained are counted all the time, as queued or as live; a load of a peer is never too small.
Scenario load_in_between() {
  return server_scenario("load", {}, [] {
    const auto pool = std::make_unique<WorkerHandoffPool>(policy(), 2, 0);
    pool->publish_load(0, 0);
    for (int i = 0; i < 2; ++i) require(pool->try_handoff(0, i), "queue", "refused");
    run_together({[&] { static_cast<void>(pool->drain_local(0)); },
                  [&] { require(pool->load(0) >= 2, "load", "tokens are invisible while they are drained"); }});
  });
}

// A queue is moved before others know of it: whoever uses it then finds its tokens.
Scenario moved_queue() {
  return server_scenario("queue-move", {}, [] {
    HandoffQueue first(2);
    first.push(1);
    const auto queue = std::make_unique<HandoffQueue>(std::move(first));
    run_together({[&] {
                    const std::size_t size = queue->size();
                    require(size == 1 || size == 2, "queue", "the token that was moved is not counted");
                    require(!queue->is_closed(), "queue", "a moved queue is closed");
                  },
                  [&] { require(queue->push(2), "queue", "a moved queue has no room"); }});
    require(first.is_closed() && first.size() == 0, "queue", "what was moved from still takes tokens");
  });
}

// Worker 1 pauses and resumes; worker 0 looks for somebody to accept, or to wake.
Scenario pause_and_resume() {
  return server_scenario("pause-and-resume", {}, [] {
    const auto pool = pool_of_two();
    run_together({[&] {
                    pool->publish_paused(1, true);
                    pool->publish_paused(1, false);
                  },
                  [&] {
                    const int acceptor = pool->choose_acceptor(0);
                    require(acceptor == 1 || acceptor == -1, "choice", "nobody like that");
                    const int paused = pool->paused_peer(0);
                    require(paused == 1 || paused == -1, "choice", "nobody like that");
                  }});
    require(pool->choose_acceptor(0) == 1 && pool->paused_peer(0) == -1, "choice",
            "it resumed and still counts as paused");
  });
}

}  // namespace

std::vector<Scenario> part_scenarios() {
  const MonoTime start(Duration(1));
  return {
      queue_count(),
      publication<HandoffQueue>(
          "queue-close-and-drain", open_queue, [](HandoffQueue& queue) { static_cast<void>(queue.close_and_drain()); },
          sees_closed),
      publication<HandoffQueue>(
          "queue-close", open_queue, [](HandoffQueue& queue) { queue.close(); }, sees_closed),
      publication<StopCell>(
          "stop-is-running", running_cell, [](StopCell& cell) { cell.request(); },
          [](StopCell& cell) { return !cell.is_running(); }),
      publication<StopCell>(
          "stop-read", running_cell, [start](StopCell& cell) { cell.drain_until(start); },
          [](StopCell& cell) { return cell.read(MonoTime{}).phase != StopPhase::kRunning; }),
      publication<StopCell>(
          "stop-request-cut", running_cell, [](StopCell& cell) { cell.cut(); },
          [](StopCell& cell) { return !cell.request(); }),
      publication<StopCell>(
          "stop-cut-cut", running_cell, [](StopCell& cell) { cell.cut(); }, [](StopCell& cell) { return !cell.cut(); }),
      publication<WorkerStats>(
          "stats-crashed", [] { return std::make_unique<WorkerStats>(); },
          [](WorkerStats& stats) { stats.set_crashed("why"); }, [](WorkerStats& stats) { return stats.crashed(); }),
      publication<WorkerHandoffPool>(
          "accept-request", pool_of_two, [](WorkerHandoffPool& pool) { static_cast<void>(pool.request_accept(0)); },
          [](WorkerHandoffPool& pool) { return pool.take_accept_request(0); }),
      disabled_listener(),
      place_and_pause(),
      heartbeat(),
      load_in_between(),
      moved_queue(),
      pause_and_resume(),
  };
}

}  // namespace flare::sim
