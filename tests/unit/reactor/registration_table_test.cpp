#include "flare/reactor/registration_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <new>
#include <set>
#include <vector>

#include "support/fault_memory.h"

namespace flare::testing {
namespace {

TEST(RegistrationTable, FindsByDescriptorAndByKey) {
  RegistrationTable table;
  const std::uint64_t key = table.next_key();
  EXPECT_EQ(key, table.next_key());
  table.insert(0, 77, 1, true);
  ASSERT_NE(nullptr, table.find(0));
  EXPECT_EQ(key, table.key_of(0));
  ASSERT_NE(nullptr, table.current(key));
  EXPECT_EQ(77U, table.current(key)->token);
  EXPECT_TRUE(table.current(key)->exclusive);
  EXPECT_EQ(1U, table.size());
  EXPECT_EQ(nullptr, table.find(-1));
  EXPECT_EQ(nullptr, table.find(1));
  EXPECT_EQ(nullptr, table.find(1 << 30));
}

// proves: INV-10
TEST(RegistrationTable, AnOldKeyIsStaleThoughNumberAndSlotAreReused) {
  RegistrationTable table;
  table.insert(5, 1, 1, false);
  const std::uint64_t old = table.key_of(5);
  table.erase(5);
  EXPECT_EQ(nullptr, table.current(old));
  table.insert(5, 2, 1, false);
  EXPECT_EQ(RegistrationTable::slot_of(old), RegistrationTable::slot_of(table.key_of(5)));
  EXPECT_EQ(nullptr, table.current(old));
}

TEST(RegistrationTable, NeitherZeroNorAllOnesIsAKey) {
  RegistrationTable table;
  for (int fd = 0; fd < 100; ++fd) table.insert(fd, 0, 1, false);
  EXPECT_EQ(nullptr, table.current(0));
  EXPECT_EQ(nullptr, table.current(~std::uint64_t{0}));
}

// field-bugs A16
// proves: INV-10
TEST(RegistrationTable, ASlotRetiresBeforeItsGenerationsComeRoundAgain) {
  RegistrationTable table(3);
  std::set<std::uint64_t> keys;
  for (int i = 0; i < 100; ++i) {
    table.insert(9, 1, 1, false);
    EXPECT_TRUE(keys.insert(table.key_of(9)).second) << "a key came back";
    table.erase(9);
    for (const std::uint64_t key : keys) ASSERT_EQ(nullptr, table.current(key));
  }
  EXPECT_EQ(34U, table.slots().size());
}

TEST(RegistrationTable, ReusesSlotsAndSoItsMemory) {
  RegistrationTable table;
  for (int round = 0; round < 1000; ++round) {
    for (int fd = 3; fd < 11; ++fd) table.insert(fd, 1, 1, false);
    for (int fd = 3; fd < 11; ++fd) table.erase(fd);
  }
  EXPECT_EQ(8U, table.slots().size());
}

TEST(RegistrationTableDeathTest, ABrokenRuleAborts) {
  RegistrationTable table;
  table.insert(4, 1, 1, false);
  EXPECT_DEATH(table.insert(4, 1, 1, false), "is registered");
  EXPECT_DEATH(table.insert(-1, 1, 1, false), "is registered");
  EXPECT_DEATH(table.erase(5), "not registered");
}

// Mutants R09, R11, R12 in small: any history, compared with a map after each step.
// proves: INV-10
TEST(RegistrationTable, BehavesAsAMapWhoseKeysNeverReturn) {
  EXPECT_TRUE(rc::check("table == map from descriptor to (token, key)", [] {
    struct Entry {
      std::uint64_t token;
      std::uint64_t key;
    };
    RegistrationTable table(*rc::gen::inRange<std::uint32_t>(1, 6));
    std::map<int, Entry> model;
    std::set<std::uint64_t> used;
    const auto script = *rc::gen::container<std::vector<std::pair<int, std::uint64_t>>>(
        rc::gen::pair(rc::gen::inRange(0, 12), rc::gen::arbitrary<std::uint64_t>()));
    for (const auto& [fd, token] : script) {
      if (model.contains(fd)) {
        table.erase(fd);
        model.erase(fd);
      } else {
        const std::uint64_t key = table.next_key();
        table.insert(fd, token, 1 + static_cast<int>(token % 3), token % 2 == 0);
        RC_ASSERT(used.insert(key).second);
        model[fd] = {token, key};
      }
      RC_ASSERT(table.size() == model.size());
      for (int each = 0; each < 12; ++each) RC_ASSERT((table.find(each) != nullptr) == model.contains(each));
      std::set<std::uint64_t> live;
      for (const auto& [number, entry] : model) {
        RC_ASSERT(table.key_of(number) == entry.key);
        const Registration* found = table.current(entry.key);
        RC_ASSERT(found != nullptr && found == table.find(number));
        RC_ASSERT(found->token == entry.token && found->fd == number);
        RC_ASSERT(found->interest == 1 + entry.token % 3 && found->exclusive == (entry.token % 2 == 0));
        live.insert(entry.key);
      }
      for (const std::uint64_t key : used) RC_ASSERT((table.current(key) != nullptr) == live.contains(key));
    }
  }));
}

// proves: INV-10
TEST(RegistrationTable, WithoutMemoryNothingHasChanged) {
  for (long nth = 1;; ++nth) {
    RegistrationTable table;
    faults::fail_allocation(nth);
    try {
      static_cast<void>(table.next_key());
    } catch (const std::bad_alloc&) {
    }
    const bool failed = faults::end_allocation_faults() > 0;
    EXPECT_EQ(RegistrationTable::slot_of(table.next_key()), 0U) << "allocation " << nth << " lost a slot";
    if (!failed) break;
    EXPECT_LT(nth, 20);
  }
}

}  // namespace
}  // namespace flare::testing
