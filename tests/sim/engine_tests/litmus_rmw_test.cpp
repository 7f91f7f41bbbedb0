// Read-modify-writes, release sequences, compare-exchanges that fail, and how far back a load can see.
#include "engine_tests/litmus.h"

namespace flare::sim {
namespace {

TEST(SimLitmus, ReadModifyWritesAreAtomic) {
  const auto increment = [](std::size_t result) {
    return [result](Words& w) { w.r[result] = read_modify_write(w.x, add, 1, kRelaxed); };
  };
  const Outcomes found = outcomes_of({increment(0), increment(1), increment(2)}, 3);
  EXPECT_EQ(found, (Outcomes{"0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0"}));
}

// y: 1 by the publisher, 10 more by a relaxed read-modify-write.
TEST(SimLitmus, AReadModifyWriteContinuesTheReleaseSequence) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                        store(w.x, 1, kRelaxed);
                                        store(w.y, 1, kRelease);
                                      },
                                      [](Words& w) { read_modify_write(w.y, add, 10, kRelaxed); },
                                      [](Words& w) {
                                        w.r[0] = load(w.y, kAcquire);
                                        w.r[1] = load(w.x, kRelaxed);
                                      }},
                                     2);
  EXPECT_EQ(found, (Outcomes{"0 0", "0 1", "10 0", "10 1", "1 1", "11 1"}));
}

TEST(SimLitmus, AStoreEndsTheReleaseSequence) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                        store(w.x, 1, kRelaxed);
                                        store(w.y, 1, kRelease);
                                        store(w.y, 2, kRelaxed);
                                      },
                                      [](Words& w) {
                                        w.r[0] = load(w.y, kAcquire);
                                        w.r[1] = load(w.x, kRelaxed);
                                      }},
                                     2);
  EXPECT_EQ(found, (Outcomes{"0 0", "0 1", "1 1", "2 0", "2 1"}));
}

// The one that comes second has read what the first published, if both halves of it are there.
Outcomes two_halves(std::memory_order order) {
  return outcomes_of({[order](Words& w) {
                        store(w.x, 1, kRelaxed);
                        read_modify_write(w.y, add, 1, order);
                      },
                      [order](Words& w) {
                        w.r[0] = read_modify_write(w.y, add, 10, order);
                        w.r[1] = load(w.x, kRelaxed);
                      }},
                     2);
}

TEST(SimLitmus, AReadModifyWritePublishesAndLearns) {
  const Outcomes any{"0 0", "0 1", "1 0", "1 1"};
  const Outcomes published{"0 0", "0 1", "1 1"};
  EXPECT_EQ(two_halves(kRelaxed), any);
  EXPECT_EQ(two_halves(kAcquire), any);
  EXPECT_EQ(two_halves(kRelease), any);
  EXPECT_EQ(two_halves(kAcqRel), published);
  EXPECT_EQ(two_halves(kSeqCst), published);
}

// Store buffering whose stores are read-modify-writes: their reads are of the newest store, the loads behind them not.
TEST(SimLitmus, ReadModifyWritesDoNotOrderLaterLoadsOfOtherWords) {
  const auto found = [](std::memory_order order) {
    return outcomes_of({[order](Words& w) {
                          read_modify_write(w.x, add, 1, order);
                          w.r[0] = load(w.y, order == kSeqCst ? kSeqCst : kAcquire);
                        },
                        [order](Words& w) {
                          read_modify_write(w.y, add, 1, order);
                          w.r[1] = load(w.x, order == kSeqCst ? kSeqCst : kAcquire);
                        }},
                       2);
  };
  EXPECT_EQ(found(kAcqRel), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
  EXPECT_EQ(found(kSeqCst), (Outcomes{"0 1", "1 0", "1 1"}));
}

// The reader runs when all nine stores are done, and knows of none.
TEST(SimLitmus, ALoadSeesTheNewestStoreAndSevenOlderOnes) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                        for (std::uint64_t value = 1; value <= 9; ++value) store(w.x, value, kRelaxed);
                                        w.done = true;
                                      },
                                      [](Words& w) {
                                        await_done(w);
                                        w.r[0] = load(w.x, kRelaxed);
                                      }},
                                     1);
  EXPECT_EQ(found, (Outcomes{"2", "3", "4", "5", "6", "7", "8", "9"}));
}

Outcomes failed_exchange(std::memory_order failure) {
  return outcomes_of({[](Words& w) {
                        store(w.x, 1, kRelaxed);
                        store(w.y, 1, kRelease);
                      },
                      [failure](Words& w) {
                        w.r[0] = 7;
                        if (compare_exchange(w.y, w.r[0], 8, kAcqRel, failure, false)) std::abort();
                        w.r[1] = load(w.x, kRelaxed);
                      }},
                     2);
}

TEST(SimLitmus, AFailedCompareExchangeIsALoadOfItsFailureOrder) {
  EXPECT_EQ(failed_exchange(kAcquire), (Outcomes{"0 0", "0 1", "1 1"}));
  EXPECT_EQ(failed_exchange(kRelaxed), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}

TEST(SimLitmus, AFailedCompareExchangeMaySeeAnOlderStoreAndNeverGoesBack) {
  const auto found = [](std::uint64_t expects) {
    return outcomes_of({[](Words& w) {
                          store(w.x, 1, kRelaxed);
                          w.done = true;
                        },
                        [expects](Words& w) {
                          await_done(w);
                          w.r[0] = expects;
                          w.r[1] = compare_exchange(w.x, w.r[0], 5, kRelaxed, kRelaxed, false) ? 1 : 0;
                          w.r[2] = load(w.x, kRelaxed);
                        }},
                       3);
  };
  EXPECT_EQ(found(7), (Outcomes{"0 0 0", "0 0 1", "1 0 1"}));
  EXPECT_EQ(found(0), (Outcomes{"1 0 1"}));  // an older store that equals what it expects does not make it succeed
  // What it expects is the newest store, but it may see the older one and fail.
  EXPECT_EQ(found(1), (Outcomes{"0 0 0", "0 0 1", "1 1 5"}));
}

TEST(SimLitmus, OnlyAWeakCompareExchangeFailsWithoutAReason) {
  const auto found = [](bool weak) {
    return outcomes_of({[weak](Words& w) {
                         w.r[0] = 0;
                         w.r[1] = compare_exchange(w.x, w.r[0], 5, kRelaxed, kRelaxed, weak) ? 1 : 0;
                       }},
                       2, 1);
  };
  EXPECT_EQ(found(false), (Outcomes{"0 1"}));
  EXPECT_EQ(found(true), (Outcomes{"0 0", "0 1"}));
}

TEST(SimLitmus, OfTwoCompareExchangesOneSucceeds) {
  const auto attempt = [](std::size_t result, std::uint64_t desired) {
    return [=](Words& w) {
      std::uint64_t expected = 0;
      w.r[result] = compare_exchange(w.x, expected, desired, kRelaxed, kRelaxed, false) ? 1 : 0;
      w.r[result + 1] = expected;
    };
  };
  const Outcomes found = outcomes_of({attempt(0, 5), attempt(2, 6)}, 4);
  EXPECT_EQ(found, (Outcomes{"1 0 0 5", "0 6 1 0"}));
}

}  // namespace
}  // namespace flare::sim
