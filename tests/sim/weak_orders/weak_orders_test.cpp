// Every memory order of the product, one notch weaker: found by a scenario, or none notices and the table says why.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "engine/weakening.h"
#include "weak_orders/scenarios.h"
#include "weak_orders/source_scan.h"
#include "weak_orders/table.h"

namespace flare::sim {
namespace {

using Mutant = std::string;  // "file:line from -> to"

Mutant mutant_of(const std::string& file, unsigned line, std::memory_order from, std::memory_order to) {
  return file + ":" + std::to_string(line) + " " + text_of(from) + " -> " + text_of(to);
}

const std::vector<OrderSite>& sites() {
  static const std::vector<OrderSite> all = scan_orders(FLARE_RUNTIME_SOURCES);
  return all;
}

// The line of a row: 0 if it is not there.
unsigned line_of(const WeakOrder& row) {
  int left = row.nth;
  unsigned last = 0;
  for (const OrderSite& site : sites()) {
    if (site.file != row.file || site.line == last || site.text.find(row.operation) == std::string::npos) continue;
    last = site.line;
    if (--left == 0) return site.line;
  }
  return 0;
}

// Under the weakening that is set.
Exploration explore(Explorer& explorer, int preemptions) {
  Budget budget;
  budget.preemptions = preemptions;
  budget.stale = 2;
  ExplorerLimits limits;
  limits.repeat_every = 0;
  limits.learn_first = false;
  return explorer.enumerate(budget, limits);
}

const Scenario* scenario_named(const std::string& name) {
  static const std::vector<Scenario> all = weak_order_scenarios();
  for (const Scenario& one : all) {
    if (one.name == "weak." + name) return &one;
  }
  return nullptr;
}

void weaken(const WeakOrder& row) {
  weakening = {};
  weakening.file = row.file;
  weakening.line = line_of(row);
  weakening.from = row.from;
  weakening.to = row.to;
}

TEST(SimWeakOrders, TheScanReadsEachFormOfAnOperation) {
  const auto orders = [](const char* line) {
    std::string text;
    for (const OrderSite& one : orders_in(line)) text += text_of(one.order) + std::to_string(one.weaker.size()) + " ";
    return text;
  };
  EXPECT_EQ(orders("  x.load();"), "seq_cst1 ");
  EXPECT_EQ(orders("  x.store(f(1), std::memory_order_release);  // x.load()"), "release1 ");
  EXPECT_EQ(orders("  v.store(v.load(std::memory_order_relaxed) + n, std::memory_order_release);"),
            "release1 relaxed0 ");
  EXPECT_EQ(orders("  if (w.compare_exchange_weak(a, b, std::memory_order_acq_rel, std::memory_order_acquire)) {"),
            "acq_rel2 acquire1 ");
  EXPECT_EQ(orders("  w.compare_exchange_strong(a, b, std::memory_order_relaxed);"), "relaxed0 ");
  EXPECT_EQ(orders("  n.fetch_sub(1);"), "seq_cst1 ");
  EXPECT_EQ(orders("  std::exchange(a, b); pool.load(worker);"), "");
  EXPECT_THROW(orders_in("  x.store(1,"), std::runtime_error);
}

TEST(SimWeakOrders, TheTableHasEachOrderOfTheSourcesAndNoOther) {
  std::set<Mutant> wanted;
  for (const OrderSite& site : sites()) {
    for (const std::memory_order to : site.weaker) {
      EXPECT_TRUE(wanted.insert(mutant_of(site.file, site.line, site.order, to)).second)
          << site.file << ":" << site.line << " has two operations of one order: put them on two lines";
    }
  }
  EXPECT_GE(wanted.size(), 40U) << "the scan finds nothing in " << FLARE_RUNTIME_SOURCES;
  for (const WeakOrder& row : weak_orders()) {
    const Mutant mutant = mutant_of(row.file, line_of(row), row.from, row.to);
    EXPECT_EQ(wanted.erase(mutant), 1U) << mutant << " (" << row.operation
                                        << ") is no order of the sources, or is there twice";
    EXPECT_GT(std::string(row.why).size(), 20U) << mutant;
  }
  for (const Mutant& mutant : wanted) ADD_FAILURE() << mutant << " is missing in tests/sim/weak_orders/table.cpp";
}

TEST(SimWeakOrders, TheOrdersAsTheyAreHold) {
  for (const Scenario& scenario : weak_order_scenarios()) {
    weakening = {};
    Explorer explorer(scenario);
    const Exploration all = explore(explorer, 3);
    std::printf("%-28s %7llu schedules, %llu states\n", scenario.name.c_str(),
                static_cast<unsigned long long>(all.schedules), static_cast<unsigned long long>(all.states));
    EXPECT_TRUE(all.ok()) << explorer.report(all.failure);
    EXPECT_TRUE(all.complete) << scenario.name;
  }
}

TEST(SimWeakOrders, EachWeakerOneIsFound) {
  int found = 0;
  for (const WeakOrder& row : weak_orders()) {
    if (row.scenario == nullptr) continue;
    const std::string name = mutant_of(row.file, line_of(row), row.from, row.to);
    const Scenario* scenario = scenario_named(row.scenario);
    ASSERT_NE(scenario, nullptr) << name << " names the scenario " << row.scenario << ", which is none";
    weaken(row);
    Explorer explorer(*scenario);
    const Exploration all = explore(explorer, 2);
    std::printf("%-62s %s in %llu schedules: %s\n", name.c_str(), row.scenario,
                static_cast<unsigned long long>(all.executed), all.failure.oracle.c_str());
    EXPECT_FALSE(all.ok()) << name << " is not found by " << row.scenario << ": " << row.why;
    EXPECT_LE(all.executed, 2000U) << name;
    EXPECT_GT(weakening.uses, 0U) << name;
    ++found;
  }
  weakening = {};
  std::printf("%d weaker orders, each found\n", found);
}

TEST(SimWeakOrders, NobodyNoticesThoseWhoseReasonIsWritten) {
  for (const WeakOrder& row : weak_orders()) {
    if (row.scenario != nullptr) continue;
    const std::string name = mutant_of(row.file, line_of(row), row.from, row.to);
    std::uint64_t uses = 0;
    for (const Scenario& scenario : weak_order_scenarios()) {
      weaken(row);
      Explorer explorer(scenario);
      const Exploration all = explore(explorer, 2);
      uses += weakening.uses;
      EXPECT_TRUE(all.ok()) << name << " is noticed by " << scenario.name << ": " << explorer.report(all.failure);
    }
    EXPECT_GT(uses, 0U) << name << " is executed by no scenario";
    std::printf("%-62s %llu uses, nobody notices: %s\n", name.c_str(), static_cast<unsigned long long>(uses), row.why);
  }
  weakening = {};
}

}  // namespace
}  // namespace flare::sim
