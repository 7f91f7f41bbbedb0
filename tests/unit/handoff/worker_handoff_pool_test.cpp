#include "flare/handoff/worker_handoff_pool.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flare/base/network_error.h"

namespace flare::testing {
namespace {

using Tokens = std::vector<std::int64_t>;

HandoffPolicy on(int capacity = 4, int threshold = 1) {
  return HandoffPolicy(true, capacity, threshold);
}

std::string refusal(const HandoffPolicy& policy, int workers, int cap) {
  try {
    const WorkerHandoffPool pool(policy, workers, cap);
    return "accepted";
  } catch (const NetworkError& error) {
    EXPECT_EQ(EINVAL, error.code().value());
    return error.what();
  }
}

TEST(WorkerHandoffPool, RefusesImpossibleSizesWithTheValue) {
  HandoffPolicy negative;
  negative.capacity = -9;
  EXPECT_NE(std::string::npos, refusal(negative, 2, 0).find("-9"));
  EXPECT_NE(std::string::npos, refusal(on(), 0, 0).find("num_workers is 0"));
  EXPECT_NE(std::string::npos, refusal(on(), -3, 0).find("num_workers is -3"));
  EXPECT_NE(std::string::npos, refusal(on(), 1, -2).find("connection_cap is -2"));
  EXPECT_EQ("accepted", refusal(on(0), 1, 0));
}

// A mask with bits beyond the running workers once picked a queue that did not exist.
// proves: C-POOL-01
TEST(WorkerHandoffPool, RefusesEveryIdOutOfRange) {
  WorkerHandoffPool pool(on(), 2, 3);
  for (const int id : {-1, 2, INT_MAX, INT_MIN}) {
    EXPECT_FALSE(pool.try_handoff(id, 1)) << id;
    EXPECT_FALSE(pool.push_orphan(id, 1)) << id;
    EXPECT_EQ(Tokens{}, pool.drain_local(id)) << id;
    EXPECT_EQ(Tokens{}, pool.close_and_drain(id)) << id;
    EXPECT_EQ(Tokens{}, pool.take_back(id, 0)) << id;
    EXPECT_EQ(Tokens{}, pool.take_back(0, id)) << id;
    EXPECT_EQ(-1, pool.peek_idle_worker(id)) << id;
    EXPECT_EQ(-1, pool.choose_handoff_target(id, 100)) << id;
    EXPECT_EQ(-1, pool.choose_orphan_target(id)) << id;
    EXPECT_EQ(-1, pool.choose_acceptor(id)) << id;
    EXPECT_EQ(-1, pool.paused_peer(id)) << id;
    EXPECT_EQ(-1, pool.load(id)) << id;
    EXPECT_EQ(0U, pool.drain_count(id)) << id;
    EXPECT_FALSE(pool.below_cap(id)) << id;
    EXPECT_FALSE(pool.begin_sleep(id)) << id;
    EXPECT_FALSE(pool.needs_wake(id)) << id;
    EXPECT_FALSE(pool.request_accept(id)) << id;
    EXPECT_FALSE(pool.take_accept_request(id)) << id;
    EXPECT_EQ(MonoTime{}, pool.heartbeat(id)) << id;
    pool.end_sleep(id);
    pool.publish_load(id, 1);
    pool.publish_heartbeat(id, MonoTime{});
    pool.mark_crashed(id);
    pool.publish_paused(id, true);
  }
  EXPECT_EQ(0, pool.paused_count());
  EXPECT_EQ(0, pool.load(0) + pool.load(1));
}

// False is what tells the caller that nothing was made: it must not believe that a peer has its connection.
// proves: C-POOL-01
TEST(WorkerHandoffPool, NothingIsMadeForATargetThatCanNotTakeIt) {
  int made = 0;
  const auto make = [&made] { return std::optional<std::int64_t>(++made); };
  WorkerHandoffPool disabled(HandoffPolicy(false, 4, 1), 2);
  EXPECT_FALSE(disabled.handoff_made(1, make));
  WorkerHandoffPool pool(on(1), 2);
  for (const int id : {-1, 2, INT_MAX, INT_MIN}) EXPECT_FALSE(pool.handoff_made(id, make)) << id;
  EXPECT_EQ(made, 0);
  EXPECT_TRUE(pool.handoff_made(1, make));
  EXPECT_FALSE(pool.handoff_made(1, make)) << "full";
  EXPECT_EQ(made, 1);
  EXPECT_EQ(Tokens{1}, pool.drain_local(1));
}

TEST(WorkerHandoffPoolDeathTest, TheQueueOfNobodyAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  WorkerHandoffPool pool(on(), 2);
  EXPECT_DEATH(pool.queue(2), "no such worker");
  EXPECT_DEATH(pool.queue(-1), "no such worker");
}

// proves: C-POOL-01, INV-03
TEST(WorkerHandoffPool, APushIsRefusedWhenDisabledFullOrClosed) {
  WorkerHandoffPool disabled(HandoffPolicy(false, 4, 1), 2);
  EXPECT_FALSE(disabled.try_handoff(1, 7));
  EXPECT_EQ(0U, disabled.queue(1).pushes() + disabled.queue(1).refused());

  WorkerHandoffPool pool(on(2), 3);
  EXPECT_TRUE(pool.try_handoff(1, 7));
  EXPECT_TRUE(pool.try_handoff(1, 8));
  EXPECT_FALSE(pool.try_handoff(1, 9));
  EXPECT_EQ(1U, pool.queue(1).refused());
  EXPECT_EQ((Tokens{7, 8}), pool.drain_local(1));
  EXPECT_EQ(Tokens{}, pool.close_and_drain(1));
  EXPECT_FALSE(pool.try_handoff(1, 9));
  pool.mark_crashed(2);
  EXPECT_FALSE(pool.try_handoff(2, 9));
  EXPECT_EQ(Tokens{}, pool.drain_local(2));
}

// proves: C-POOL-01
TEST(WorkerHandoffPool, QueuedTokensCountAgainstTheTargetsCap) {
  WorkerHandoffPool pool(on(), 2, 3);
  pool.publish_load(1, 1);
  EXPECT_TRUE(pool.try_handoff(1, 1));
  EXPECT_TRUE(pool.below_cap(1));
  EXPECT_TRUE(pool.try_handoff(1, 2));
  EXPECT_FALSE(pool.below_cap(1));
  EXPECT_FALSE(pool.try_handoff(1, 3));
  EXPECT_EQ((Tokens{1, 2}), pool.drain_local(1));
  EXPECT_FALSE(pool.try_handoff(1, 3));  // now they are live
  pool.publish_load(1, 2);
  EXPECT_TRUE(pool.try_handoff(1, 3));
}

// proves: C-POOL-10
TEST(WorkerHandoffPool, AnOrphanIgnoresTheSwitchAndTheCapButNotAFullClosedOrCrashedPeer) {
  WorkerHandoffPool pool(HandoffPolicy(false, 1, 1), 4, 1);
  pool.publish_load(1, 5);
  EXPECT_TRUE(pool.push_orphan(1, 7));
  EXPECT_FALSE(pool.push_orphan(1, 8));
  EXPECT_EQ(Tokens{}, pool.close_and_drain(2));
  EXPECT_FALSE(pool.push_orphan(2, 8));
  pool.mark_crashed(3);
  EXPECT_FALSE(pool.push_orphan(3, 8));
  EXPECT_EQ(-1, pool.choose_orphan_target(0));
  EXPECT_EQ(Tokens{7}, pool.drain_local(1));
  EXPECT_EQ(1, pool.choose_orphan_target(0));
}

// proves: C-POOL-07, INV-22
TEST(WorkerHandoffPool, WhatIsDrainedOrTakenBackJoinsTheTakersPublishedLoad) {
  WorkerHandoffPool pool(on(8), 3);
  pool.publish_load(0, 10);
  pool.publish_load(1, 20);
  for (int token = 0; token < 3; ++token) pool.try_handoff(1, token);
  EXPECT_EQ(23, pool.load(1));
  EXPECT_EQ((Tokens{0, 1, 2}), pool.drain_local(1));
  EXPECT_EQ(23, pool.load(1));
  pool.publish_load(1, 22);  // one was closed
  EXPECT_EQ(22, pool.load(1));
  pool.try_handoff(1, 4);
  EXPECT_EQ(Tokens{}, pool.take_back(1, 1));
  EXPECT_EQ(Tokens{4}, pool.take_back(1, 0));
  EXPECT_EQ(22, pool.load(1));
  EXPECT_EQ(11, pool.load(0));
  EXPECT_EQ(pool.queue(1).pushes(), pool.queue(1).pops());
  pool.publish_load(0, -4);
  EXPECT_EQ(0, pool.load(0));
}

// proves: C-POOL-04
TEST(WorkerHandoffPool, WhereNobodyPublishedTheQueueDepthIsTheLoad) {
  WorkerHandoffPool pool(on(8), 2);
  for (int token = 0; token < 3; ++token) pool.try_handoff(1, token);
  EXPECT_EQ(3, pool.load(1));
  EXPECT_EQ(3U, pool.drain_local(1).size());
  EXPECT_EQ(0, pool.load(1));
  EXPECT_EQ(Tokens{}, pool.take_back(1, 0));
  EXPECT_EQ(0, pool.load(0));
}

// proves: C-POOL-08
TEST(WorkerHandoffPool, TheDrainCountTellsADonorThatTheOwnerIsStuck) {
  WorkerHandoffPool pool(on(8), 2);
  const std::uint64_t before = pool.drain_count(1);
  pool.try_handoff(1, 1);
  EXPECT_EQ(before, pool.drain_count(1));
  EXPECT_EQ(Tokens{1}, pool.take_back(1, 0));
  EXPECT_EQ(before, pool.drain_count(1));  // only the owner counts
  Tokens buffer{9};
  pool.drain_local(1, buffer);
  EXPECT_EQ(Tokens{}, buffer);
  EXPECT_EQ(before, pool.drain_count(1)) << "there was nothing to take";
  pool.try_handoff(1, 2);
  pool.drain_local(1, buffer);
  EXPECT_EQ(Tokens{2}, buffer);
  EXPECT_NE(before, pool.drain_count(1));
}

// proves: C-QUEUE-05
TEST(WorkerHandoffPool, AClosedQueueLeavesTheRestReadable) {
  WorkerHandoffPool pool(on(8), 2);
  pool.publish_load(1, 5);
  pool.try_handoff(1, 1);
  EXPECT_EQ(Tokens{1}, pool.close_and_drain(1));
  EXPECT_EQ(Tokens{}, pool.close_and_drain(1));
  EXPECT_EQ(5, pool.load(1));
  EXPECT_EQ(1U, pool.queue(1).pops());
}

// proves: C-POOL-09, INV-06
TEST(WorkerHandoffPool, AWorkerSleepsOnlyWhenNothingWaits) {
  WorkerHandoffPool pool(on(), 2);
  EXPECT_FALSE(pool.needs_wake(1));
  EXPECT_TRUE(pool.begin_sleep(1));
  pool.end_sleep(1);
  pool.try_handoff(1, 1);
  EXPECT_FALSE(pool.needs_wake(1));  // awake
  EXPECT_FALSE(pool.begin_sleep(1));
  EXPECT_FALSE(pool.needs_wake(1));  // it stayed awake
  pool.drain_local(1);
  EXPECT_TRUE(pool.request_accept(1));
  EXPECT_FALSE(pool.begin_sleep(1));
  EXPECT_TRUE(pool.take_accept_request(1));
  EXPECT_TRUE(pool.begin_sleep(1));
}

// proves: C-POOL-09
TEST(WorkerHandoffPool, ASleeperIsWokenOncePerSleep) {
  WorkerHandoffPool pool(on(), 2);
  for (int sleep = 0; sleep < 2; ++sleep) {
    EXPECT_TRUE(pool.begin_sleep(1));
    EXPECT_TRUE(pool.try_handoff(1, 1));
    EXPECT_TRUE(pool.needs_wake(1));
    EXPECT_FALSE(pool.needs_wake(1));
    pool.end_sleep(1);
    EXPECT_FALSE(pool.needs_wake(1));
    pool.drain_local(1);
  }
}

TEST(WorkerHandoffPool, AcceptRequestsCoalesceAndAreRefusedByAClosedOrCrashedWorker) {
  WorkerHandoffPool pool(on(), 4);
  EXPECT_FALSE(pool.take_accept_request(1));
  EXPECT_TRUE(pool.request_accept(1));
  EXPECT_TRUE(pool.request_accept(1));
  EXPECT_FALSE(pool.take_accept_request(0));
  EXPECT_TRUE(pool.take_accept_request(1));
  EXPECT_FALSE(pool.take_accept_request(1));
  EXPECT_EQ(Tokens{}, pool.close_and_drain(2));
  EXPECT_FALSE(pool.request_accept(2));
  pool.mark_crashed(3);
  EXPECT_FALSE(pool.request_accept(3));
  EXPECT_FALSE(pool.take_accept_request(2) || pool.take_accept_request(3));
}

TEST(WorkerHandoffPool, CountsPausedWorkersOnceEachAndFindsThemInRotation) {
  WorkerHandoffPool pool(on(), 4);
  EXPECT_EQ(-1, pool.paused_peer(0));
  for (const int worker : {0, 1, 3}) {
    pool.publish_paused(worker, true);
    pool.publish_paused(worker, true);
  }
  EXPECT_EQ(3, pool.paused_count());
  EXPECT_EQ(1, pool.paused_peer(0));
  EXPECT_EQ(3, pool.paused_peer(0));
  EXPECT_EQ(1, pool.paused_peer(0));
  pool.mark_crashed(1);
  EXPECT_EQ(3, pool.paused_peer(0));
  EXPECT_EQ(3, pool.paused_peer(0));
  pool.publish_paused(3, false);
  pool.publish_paused(3, false);
  EXPECT_EQ(2, pool.paused_count());
  EXPECT_EQ(-1, pool.paused_peer(0));
}

TEST(WorkerHandoffPool, AMoveTakesEverythingAndLeavesAPoolOfNobody) {
  WorkerHandoffPool source(on(), 3);
  source.publish_load(1, 5);
  source.try_handoff(1, 42);
  source.publish_paused(2, true);
  WorkerHandoffPool pool(std::move(source));
  for (WorkerHandoffPool* left : {&source}) {
    EXPECT_EQ(0, left->size());
    EXPECT_FALSE(left->try_handoff(1, 1));
    EXPECT_EQ(0, left->paused_count());
    EXPECT_EQ(-1, left->peek_idle_worker(0));
  }
  EXPECT_EQ(3, pool.size());
  EXPECT_EQ(6, pool.load(1));
  EXPECT_EQ(1, pool.paused_count());
  EXPECT_EQ(Tokens{42}, pool.drain_local(1));
  EXPECT_TRUE(pool.policy().enabled);
}

}  // namespace
}  // namespace flare::testing
