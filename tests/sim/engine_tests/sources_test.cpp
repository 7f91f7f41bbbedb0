// The suppliers: what an enumeration visits, what a seed fixes, what PCT promises.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "engine_tests/small_runs.h"

namespace flare::sim {
namespace {

// --- enumeration

// A tree with 8 leaves: 3 ways at the root, then 2, none and 5.
std::uint32_t walk() {
  Schedule& schedule = *Schedule::current();
  const std::uint32_t first = schedule.choose(3, ChoiceKind::kCalm, "first");
  if (first == 0) return schedule.choose(2, ChoiceKind::kCalm, "second");
  if (first == 2) return 20 + schedule.choose(5, ChoiceKind::kCalm, "second");
  return 10;
}

TEST(SimEnumeration, VisitsEachLeafOfATreeOnce) {
  for (const bool remember : {false, true}) {
    std::map<std::uint32_t, int> leaves;
    Budget budget;
    budget.calm = 2;
    Enumeration source(budget, remember);
    const std::vector<Verdict> all = run_all(source, [&leaves] {
      const std::uint32_t leaf = walk();
      const HostScope host;
      ++leaves[leaf];
    });
    EXPECT_EQ(all.size(), 8U);
    EXPECT_EQ(leaves.size(), 8U);
    for (const auto& [leaf, times] : leaves) EXPECT_EQ(times, 1) << leaf;
  }
}

TEST(SimEnumeration, ABudgetOfOneLeavesOutTwoDeviations) {
  std::set<std::uint32_t> leaves;
  Budget budget;
  budget.calm = 1;
  Enumeration source(budget, false);
  run_all(source, [&leaves] {
    const std::uint32_t leaf = walk();
    const HostScope host;
    leaves.insert(leaf);
  });
  EXPECT_EQ(leaves, (std::set<std::uint32_t>{0, 1, 10, 20}));
}

// The orders in which two threads can take three steps each.
std::set<std::string> orders_of_two_threads(Budget budget, bool remember, bool& each_once) {
  std::set<std::string> orders;
  std::set<std::string> strings;
  Enumeration source(budget, remember);
  AtomicWord* word = nullptr;
  const std::vector<Verdict> all = run_all(source, [&] {
    const auto owned = std::make_unique<AtomicWord>(0);
    word = owned.get();
    std::string order;
    order.reserve(8);
    const auto steps = [&order, word](char name) {
      return [&order, word, name] {
        for (int i = 0; i < 3; ++i) {
          tick(*word);
          order += name;
        }
      };
    };
    run_together({steps('a'), steps('b')});
    const HostScope host;
    orders.insert(std::string(order.data(), order.size()));
  });
  each_once = true;
  for (const Verdict& one : all) {
    EXPECT_TRUE(one.ok()) << one.text;
    EXPECT_LE(preemptions_of(one.choices), budget.preemptions);
    if (!one.pruned) each_once = strings.insert(to_text(one.choices)).second && each_once;
  }
  return orders;
}

// Away from a thread that has steps left.
int preemptions_in(const std::string& order) {
  int left[2] = {3, 3};
  int count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    --left[order[i] - 'a'];
    if (i + 1 < order.size() && order[i + 1] != order[i] && left[order[i] - 'a'] > 0) ++count;
  }
  return count;
}

std::set<std::string> orders_with(int most_preemptions) {
  std::set<std::string> orders;
  for (unsigned bits = 0; bits < 64; ++bits) {
    if (__builtin_popcount(bits) != 3) continue;
    std::string order;
    for (unsigned i = 0; i < 6; ++i) order += (bits >> i & 1U) != 0 ? 'a' : 'b';
    if (preemptions_in(order) <= most_preemptions) orders.insert(order);
  }
  return orders;
}

TEST(SimEnumeration, FindsExactlyTheOrdersWithinThePreemptionBound) {
  ASSERT_EQ(orders_with(100).size(), 20U);
  for (const int bound : {0, 1, 2, 3, 100}) {
    for (const bool remember : {false, true}) {
      bool each_once = false;
      EXPECT_EQ(orders_of_two_threads(preemptions(bound), remember, each_once), orders_with(bound)) << bound;
      EXPECT_TRUE(each_once) << bound;
    }
  }
}

void choose_among(int ticks, std::uint32_t calm, std::uint32_t faults) {
  const auto word = std::make_unique<AtomicWord>(0);
  const auto steps = [&] {
    for (int i = 0; i < ticks; ++i) tick(*word);
    static_cast<void>(Schedule::current()->choose(calm, ChoiceKind::kCalm, "calm"));
    static_cast<void>(Schedule::current()->choose(faults, ChoiceKind::kFault, "fault"));
  };
  run_together({steps, steps, steps});
}

void several_choices() {
  choose_among(4, 7, 3);
}

TEST(SimEnumeration, KeepsTheBudgetOfEveryKind) {
  for (const int most : {0, 1, 2}) {
    Budget budget;
    budget.preemptions = budget.switches = budget.calm = budget.faults = most;
    Enumeration source(budget, false);
    std::array<int, 6> seen{};
    for (const Verdict& one : run_all(source, [] { choose_among(1, 2, 2); })) {
      std::array<int, 6> spent{};
      for (const Choice& choice : one.choices) ++spent[static_cast<std::size_t>(choice.kind)];
      for (std::size_t kind = 0; kind < spent.size(); ++kind) seen[kind] = std::max(seen[kind], spent[kind]);
    }
    for (const ChoiceKind kind : {ChoiceKind::kPreempt, ChoiceKind::kSwitch, ChoiceKind::kCalm, ChoiceKind::kFault}) {
      EXPECT_EQ(seen[static_cast<std::size_t>(kind)], most) << static_cast<int>(kind);
    }
  }
}

// --- random sources

std::vector<std::uint64_t> hashes(ChoiceSource& source) {
  std::vector<std::uint64_t> all;
  for (const Verdict& one : run_all(source, several_choices)) all.push_back(one.hash);
  return all;
}

TEST(SimUniform, TheSeedFixesEachScheduleAlone) {
  Uniform ten(40, 10, 0.3, 0.3, 0.3);
  const std::vector<std::uint64_t> first = hashes(ten);
  ASSERT_EQ(first.size(), 10U);
  Uniform again(40, 10, 0.3, 0.3, 0.3);
  EXPECT_EQ(hashes(again), first);
  for (std::uint64_t n = 0; n < 10; ++n) {
    Uniform alone(40 + n, 1, 0.3, 0.3, 0.3);
    EXPECT_EQ(hashes(alone).front(), first[n]) << n;
  }
  EXPECT_GE(std::set<std::uint64_t>(first.begin(), first.end()).size(), 9U);
}

TEST(SimUniform, AFoundScheduleReplaysToTheSameHash) {
  Uniform source(1, 200, 0.3, 0.3, 0.3);
  for (const Verdict& one : run_all(source, several_choices)) {
    Replay replay(parse_choices(to_text(one.choices)).value());
    const Verdict again = run_all(replay, several_choices).front();
    EXPECT_TRUE(again.ok()) << again.nondeterminism;
    EXPECT_EQ(again.hash, one.hash);
  }
}

TEST(SimBytes, EachByteIsAChoiceAndThenAllIsCalm) {
  const unsigned char data[] = {5, 0, 9, 255, 1, 77, 3};
  Bytes source(data, sizeof data);
  Bytes again(data, sizeof data);
  EXPECT_EQ(hashes(source), hashes(again));
  Bytes none(data, 0);
  Replay calm({});
  EXPECT_EQ(hashes(none), hashes(calm));
  const unsigned char two[] = {9, 4};
  Bytes few(two, sizeof two);
  const std::vector<Verdict> all = run_all(few, [] {
    for (int i = 0; i < 4; ++i) static_cast<void>(Schedule::current()->choose(5, ChoiceKind::kCalm, "five"));
  });
  EXPECT_EQ(to_text(all.front().choices), "1:4/5,2:4/5");
}

// --- PCT

// a and b of one thread, c and d of the other, each among other steps. Depth 2: c between a and b. Depth 3: a, c, b, d.
std::vector<Verdict> plant(ChoiceSource& source, int depth) {
  return run_all(source, [depth] {
    const auto word = std::make_unique<AtomicWord>(0);
    std::string order;
    order.reserve(8);
    const auto steps = [&](const char* names) {
      return [&, names] {
        for (const char* name = names; *name != 0; ++name) {
          tick(*word);
          tick(*word);
          order += *name;
        }
      };
    };
    run_together({steps("ab"), steps("cd")});
    const bool hit = depth == 2 ? order == "acb" || order == "acbd" || order == "acdb" : order == "acbd";
    Schedule::current()->require(!hit, "planted", "the planted order");
  });
}

std::uint64_t failures(const std::vector<Verdict>& all) {
  std::uint64_t count = 0;
  for (const Verdict& one : all) count += one.oracle == "planted" ? 1 : 0;
  return count;
}

TEST(SimPct, FindsAPlantedBugOfItsDepthWithTheChanceItPromises) {
  for (const int depth : {2, 3}) {
    Pct source(7, depth, 5000);
    const std::uint64_t found = failures(plant(source, depth));
    const double miss = source.miss_probability(3);
    std::printf("depth %d: found by %llu of 5000 schedules, missed by all with %.2g at most\n", depth,
                static_cast<unsigned long long>(found), miss);
    EXPECT_LE(miss, 1e-3);
    EXPECT_GE(found, 1U);
    // As often as the bound says, or more: 1 / (n k^(d-1)) of the schedules.
    EXPECT_GE(static_cast<double>(found), -std::log(miss) / 2);
  }
}

TEST(SimPct, ABugDeeperThanItsDepthIsMissed) {
  Pct shallow(7, 1, 2000);
  EXPECT_EQ(failures(plant(shallow, 2)), 0U);
  Pct two(7, 2, 5000);
  EXPECT_EQ(failures(plant(two, 3)), 0U);
}

}  // namespace
}  // namespace flare::sim
