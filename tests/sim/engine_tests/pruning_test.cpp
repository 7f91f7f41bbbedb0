// What leaves schedules out loses no final state: states that were explored, points that only one thread uses.
//
// Each scenario records its state at the end; the full enumeration (every point, no state remembered) and the ones that
// leave something out must give the same set.
#include <cstdio>
#include <set>

#include "engine_tests/small_runs.h"
#include "flare/handoff/worker_handoff_pool.h"
#include "scenarios/server_world.h"

namespace flare::sim {
namespace {

using States = std::set<std::string>;

void record(States& states, const std::string& state) {
  const HostScope host;
  states.insert(std::string(state.data(), state.size()));
}

std::string text_of(const std::vector<std::int64_t>& tokens) {
  std::string text = "[";
  for (const std::int64_t one : tokens) text += std::to_string(one) + " ";
  return text + "]";
}

struct Found {
  States states;
  std::uint64_t schedules = 0;
};

Found explore(Scenario scenario, States& states, int most_preemptions, bool every_point, bool remember_states) {
  states.clear();
  scenario.options.every_point = every_point;
  Explorer explorer(std::move(scenario));
  ExplorerLimits limits;
  limits.remember_states = remember_states;
  limits.repeat_every = 0;
  limits.learn_first = false;
  const Exploration all = explorer.enumerate(preemptions(most_preemptions), limits);
  EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
  EXPECT_TRUE(all.complete);
  return {states, all.schedules};
}

void expect_same_states(const Scenario& scenario, States& states, int most_preemptions, std::size_t at_least) {
  const Found full = explore(scenario, states, most_preemptions, true, false);
  const Found learned = explore(scenario, states, most_preemptions, false, false);
  const Found known = explore(scenario, states, most_preemptions, true, true);
  const Found both = explore(scenario, states, most_preemptions, false, true);
  std::printf(
      "%-8s %zu final states; %llu schedules, %llu with learned points, %llu with known states, %llu with both\n",
      scenario.name.c_str(), full.states.size(), static_cast<unsigned long long>(full.schedules),
      static_cast<unsigned long long>(learned.schedules), static_cast<unsigned long long>(known.schedules),
      static_cast<unsigned long long>(both.schedules));
  EXPECT_GE(full.states.size(), at_least) << "too few states to show anything";
  EXPECT_EQ(learned.states, full.states);
  EXPECT_EQ(known.states, full.states);
  EXPECT_EQ(both.states, full.states);
  EXPECT_LT(learned.schedules, full.schedules);
  EXPECT_LT(both.schedules, learned.schedules);
}

// Two producers with tokens of their own, an owner that pops once and then closes: what came out where, how much was
// refused.
TEST(SimPruning, TheQueuesFinalStates) {
  States states;
  Scenario scenario;
  scenario.name = "queue";
  scenario.body = [&states] {
    const auto queue = std::make_unique<HandoffQueue>(2);
    std::string popped;
    std::string closed;
    run_together({[&queue] {
                    queue->push(1);
                    queue->push(2);
                  },
                  [&queue] { queue->push(11); },
                  [&] {
                    popped = std::to_string(queue->pop().value_or(0));
                    closed = text_of(queue->close_and_drain());
                  }});
    record(states, popped + closed + std::to_string(queue->refused()));
  };
  expect_same_states(scenario, states, 2, 10);
}

// A donor that pushes and wakes, a peer that asks for an accept, an owner on its way to sleep.
TEST(SimPruning, ThePoolsFinalStates) {
  States states;
  Scenario scenario;
  scenario.name = "pool";
  scenario.body = [&states] {
    const auto pool = std::make_unique<WorkerHandoffPool>(HandoffPolicy(true, 1, 1), 2);
    std::string owner;
    bool wakes[2] = {false, false};
    bool pushed = false;
    pool->publish_load(0, 0);
    run_together({[&] {
                    owner = pool->begin_sleep(0) ? "asleep " : "awake ";
                    pool->end_sleep(0);
                    owner += pool->take_accept_request(0) ? "asked " : "not asked ";
                    owner += text_of(pool->drain_local(0));
                  },
                  [&] {
                    pushed = pool->try_handoff(0, 5);
                    wakes[0] = pool->needs_wake(0);
                  },
                  [&] {
                    static_cast<void>(pool->request_accept(0));
                    wakes[1] = pool->needs_wake(0);
                  }});
    record(states, owner + std::to_string(pushed) + std::to_string(wakes[0]) + std::to_string(wakes[1]) + " " +
                       std::to_string(pool->load(0)) + text_of(pool->close_and_drain(0)));
  };
  expect_same_states(scenario, states, 2, 10);
}

std::string text_of(const std::vector<ShutdownReport>& reports) {
  std::string text;
  for (const ShutdownReport& one : reports) {
    text += std::to_string(one.accepted) + std::to_string(one.received) + std::to_string(one.handed_out) +
            std::to_string(one.finished) + std::to_string(one.cut) + " ";
  }
  return text;
}

// A whole server with two workers, one client, and a drain that meets it: who served it, and how it ended.
TEST(SimPruning, TheServersFinalStates) {
  States states;
  sim::Setup setup;
  setup.strategy = ListenerStrategy::kShared;
  const Scenario scenario = server_scenario("server", setup, [&states, setup] {
    LineServer server = start_server(setup);
    Client client(server.addresses().front());
    static_cast<void>(client.send("x\n"));
    const std::vector<ShutdownReport> reports = server.drain(0);
    const std::string end = client.await_end() == StreamEnd::kEof ? "eof" : "reset";
    record(states, text_of(reports) + end);
  });
  expect_same_states(scenario, states, 1, 3);
}

}  // namespace
}  // namespace flare::sim
