// The classic shapes of two to four threads with plain loads and stores of atomics: exact sets of outcomes.
#include "engine_tests/litmus.h"

namespace flare::sim {
namespace {

using Order = std::memory_order;

// x is the data, y says that it is there. Results: y, x.
Outcomes message_passing(Order publish, Order observe) {
  return outcomes_of({[publish](Words& w) {
                        store(w.x, 1, kRelaxed);
                        store(w.y, 1, publish);
                      },
                      [observe](Words& w) {
                        w.r[0] = load(w.y, observe);
                        w.r[1] = load(w.x, kRelaxed);
                      }},
                     2);
}

TEST(SimLitmus, MessagePassingNeedsReleaseAndAcquire) {
  const Outcomes any{"0 0", "0 1", "1 0", "1 1"};
  const Outcomes published{"0 0", "0 1", "1 1"};
  EXPECT_EQ(message_passing(kRelaxed, kRelaxed), any);
  EXPECT_EQ(message_passing(kRelease, kRelaxed), any);
  EXPECT_EQ(message_passing(kRelaxed, kAcquire), any);
  EXPECT_EQ(message_passing(kRelease, kAcquire), published);
  EXPECT_EQ(message_passing(kSeqCst, kAcquire), published);
  EXPECT_EQ(message_passing(kRelease, kSeqCst), published);
  EXPECT_EQ(message_passing(kSeqCst, kSeqCst), published);
}

Outcomes store_buffering(Order stores, Order loads) {
  return outcomes_of({[=](Words& w) {
                        store(w.x, 1, stores);
                        w.r[0] = load(w.y, loads);
                      },
                      [=](Words& w) {
                        store(w.y, 1, stores);
                        w.r[1] = load(w.x, loads);
                      }},
                     2);
}

TEST(SimLitmus, StoreBufferingNeedsSequentialConsistency) {
  const Outcomes any{"0 0", "0 1", "1 0", "1 1"};
  const Outcomes one_sees_the_other{"0 1", "1 0", "1 1"};
  EXPECT_EQ(store_buffering(kRelaxed, kRelaxed), any);
  EXPECT_EQ(store_buffering(kRelease, kAcquire), any);
  EXPECT_EQ(store_buffering(kSeqCst, kAcquire), any);
  EXPECT_EQ(store_buffering(kRelease, kSeqCst), any);
  EXPECT_EQ(store_buffering(kSeqCst, kSeqCst), one_sees_the_other);
}

// The standard allows "1 1" with relaxed operations; a model that executes one operation after the other can't give it.
TEST(SimLitmus, LoadBufferingIsNotModelled) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                        w.r[0] = load(w.x, kRelaxed);
                                        store(w.y, 1, kRelaxed);
                                      },
                                      [](Words& w) {
                                        w.r[1] = load(w.y, kRelaxed);
                                        store(w.x, 1, kRelaxed);
                                      }},
                                     2);
  EXPECT_EQ(found, (Outcomes{"0 0", "0 1", "1 0"}));
}

// Two writers of two words, two readers that look in opposite orders. Too many schedules to run each of them.
Outcomes independent_reads(Order stores, Order loads) {
  return explore_litmus({[=](Words& w) { store(w.x, 1, stores); }, [=](Words& w) { store(w.y, 1, stores); },
                         [=](Words& w) {
                           w.r[0] = load(w.x, loads);
                           w.r[1] = load(w.y, loads);
                         },
                         [=](Words& w) {
                           w.r[2] = load(w.y, loads);
                           w.r[3] = load(w.x, loads);
                         }},
                        4, true)
      .outcomes;
}

TEST(SimLitmus, IndependentReadsOfIndependentWrites) {
  Outcomes any;
  for (int i = 0; i < 16; ++i) {
    const auto bit = [i](int n) { return std::string(1, (i >> n & 1) != 0 ? '1' : '0'); };
    any.insert(bit(0) + " " + bit(1) + " " + bit(2) + " " + bit(3));
  }
  Outcomes agreed = any;
  agreed.erase("1 0 1 0");  // each reader saw the other's second word unwritten
  EXPECT_EQ(independent_reads(kRelaxed, kRelaxed), any);
  EXPECT_EQ(independent_reads(kRelease, kAcquire), any);
  EXPECT_EQ(independent_reads(kSeqCst, kAcquire), any);
  EXPECT_EQ(independent_reads(kRelaxed, kSeqCst), agreed);  // the loads alone have one order
  EXPECT_EQ(independent_reads(kSeqCst, kSeqCst), agreed);
}

TEST(SimLitmus, ReadsOfOneWordNeverGoBack) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                        store(w.x, 1, kRelaxed);
                                        store(w.x, 2, kRelaxed);
                                      },
                                      [](Words& w) {
                                        w.r[0] = load(w.x, kRelaxed);
                                        w.r[1] = load(w.x, kRelaxed);
                                      }},
                                     2);
  EXPECT_EQ(found, (Outcomes{"0 0", "0 1", "0 2", "1 1", "1 2", "2 2"}));
}

// A reader that heard of another's read sees nothing older, though that one has read again since.
TEST(SimLitmus, ReadsOfOneWordNeverGoBackAcrossThreads) {
  // Too many schedules to run each of them: known states are left.
  const LitmusRun run = explore_litmus({[](Words& w) {
                                          store(w.x, 1, kRelaxed);
                                          store(w.x, 2, kRelaxed);
                                        },
                                        [](Words& w) {
                                          w.r[0] = load(w.x, kRelaxed);
                                          store(w.y, 1, kRelease);
                                          w.r[1] = load(w.x, kRelaxed);
                                        },
                                        [](Words& w) {
                                          w.r[2] = load(w.y, kAcquire);
                                          w.r[3] = load(w.x, kRelaxed);
                                        }},
                                       4, true);
  Outcomes expected;
  for (int first = 0; first < 3; ++first) {
    for (int second = first; second < 3; ++second) {
      for (int heard = 0; heard < 2; ++heard) {
        for (int third = heard != 0 ? first : 0; third < 3; ++third) {
          expected.insert(std::to_string(first) + " " + std::to_string(second) + " " + std::to_string(heard) + " " +
                          std::to_string(third));
        }
      }
    }
  }
  EXPECT_EQ(run.outcomes, expected);
}

TEST(SimLitmus, AThreadSeesItsOwnStoreOrANewerOne) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                        store(w.x, 1, kRelaxed);
                                        w.r[0] = load(w.x, kRelaxed);
                                      },
                                      [](Words& w) { store(w.x, 2, kRelaxed); }},
                                     1);
  EXPECT_EQ(found, (Outcomes{"1", "2"}));
}

TEST(SimLitmus, AThreadDoesNotSeeItsLaterStore) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                        w.r[0] = load(w.x, kRelaxed);
                                        store(w.x, 1, kRelaxed);
                                      },
                                      [](Words& w) { store(w.x, 2, kRelaxed); }},
                                     1);
  EXPECT_EQ(found, (Outcomes{"0", "2"}));
}

// One order of the sequentially consistent operations says nothing of other memory: only release and acquire do.
TEST(SimLitmus, SequentialConsistencyPublishesNoMoreThanItsWord) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                        store(w.x, 1, kRelaxed);
                                        w.r[0] = load(w.y, kSeqCst);
                                      },
                                      [](Words& w) {
                                        store(w.y, 1, kSeqCst);
                                        w.r[1] = load(w.x, kRelaxed);
                                      }},
                                     2);
  EXPECT_EQ(found, (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}

// A lock, a thread's start and its join order all memory.
TEST(SimLitmus, AThreadsStartAndItsJoinPublish) {
  const Outcomes found = outcomes_of({[](Words& w) {
                                       store(w.x, 1, kRelaxed);
                                       const int child = start_thread([&w] {
                                         w.r[0] = load(w.x, kRelaxed);
                                         store(w.y, 1, kRelaxed);
                                       });
                                       join_thread(child);
                                       w.r[1] = load(w.y, kRelaxed);
                                     }},
                                     2);
  EXPECT_EQ(found, (Outcomes{"1 1"}));
}

TEST(SimLitmus, ALockPublishes) {
  static ModelMutex* mutex;
  const auto locked = [](Words& w, int result) {
    mutex->lock();
    w.r[static_cast<std::size_t>(result)] = load(w.x, kRelaxed);
    store(w.x, w.r[static_cast<std::size_t>(result)] + 1, kRelaxed);
    mutex->unlock();
  };
  const Outcomes found = outcomes_of({[locked](Words& w) {
                                       const auto owned = std::make_unique<ModelMutex>();
                                       mutex = owned.get();
                                       const int child = start_thread([&] { locked(w, 1); });
                                       locked(w, 0);
                                       join_thread(child);
                                     }},
                                     2);
  EXPECT_EQ(found, (Outcomes{"0 1", "1 0"}));
}

}  // namespace
}  // namespace flare::sim
