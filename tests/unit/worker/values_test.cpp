// The small parts of a worker: tokens, the table of connections, the stop cell, counters, reports.
#include "flare/worker/loop_token.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <thread>

#include "flare/reactor/event.h"
#include "flare/worker/connection_table.h"
#include "flare/worker/error_reporter.h"
#include "flare/worker/stop_cell.h"
#include "flare/worker/worker_stats.h"
#include "support/loopback.h"

namespace flare::testing {
namespace {

RC_GTEST_PROP(LoopToken, AHandoffTokenComesOutAsItWentIn, ()) {
  const HandoffToken in{*rc::gen::inRange(0, INT32_MAX), *rc::gen::inRange(0, 65536), *rc::gen::inRange(0, 32768)};
  const HandoffToken out = HandoffToken::unpack(in.pack());
  RC_ASSERT(out.fd == in.fd);
  RC_ASSERT(out.accepted_by == in.accepted_by);
  RC_ASSERT(out.listener == in.listener);
}

TEST(LoopToken, HandoffTokensAtTheBoundsComeOutAsTheyWentIn) {
  for (const int fd : {0, 1, INT32_MAX}) {
    for (const int worker : {0, 255, 65535}) {
      for (const int listener : {0, 32767}) {
        const HandoffToken out = HandoffToken::unpack(HandoffToken{fd, worker, listener}.pack());
        EXPECT_EQ(out.fd, fd);
        EXPECT_EQ(out.accepted_by, worker);
        EXPECT_EQ(out.listener, listener);
      }
    }
  }
}

RC_GTEST_PROP(LoopToken, ATokenOfTheLoopSaysWhatItIsAndIsNoConnection, (std::uint32_t argument)) {
  const auto kind = *rc::gen::element(LoopTokenKind::kListener, LoopTokenKind::kAcceptRetry, LoopTokenKind::kTakeBack);
  const std::uint64_t token = loop_token(kind, argument);
  RC_ASSERT(!is_connection_token(token));
  RC_ASSERT(loop_token_kind(token) == kind);
  RC_ASSERT(loop_token_argument(token) == argument);
  RC_ASSERT(token != WAKEUP_TOKEN);
}

// proves: INV-10
RC_GTEST_PROP(ConnectionTable, AHandleFindsItsOwnConnectionUntilItIsRemovedAndNeverAnother, ()) {
  ConnectionTable table;
  std::vector<std::pair<std::uint64_t, int>> live;
  std::set<std::uint64_t> gone;
  for (const bool add : *rc::gen::container<std::vector<bool>>(60, rc::gen::arbitrary<bool>())) {
    if (add || live.empty()) {
      ConnectionSlot& slot = table.add(UniqueFd());
      slot.accepted_by = static_cast<int>(live.size() + gone.size());
      RC_ASSERT(is_connection_token(slot.handle()));
      RC_ASSERT(gone.count(slot.handle()) == 0U);
      live.emplace_back(slot.handle(), slot.accepted_by);
    } else {
      const auto at = *rc::gen::inRange<std::size_t>(0, live.size());
      table.remove(*table.find(live[at].first));
      gone.insert(live[at].first);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    RC_ASSERT(table.live() == live.size());
    for (const auto& [handle, mark] : live) {
      RC_ASSERT(table.find(handle) != nullptr);
      RC_ASSERT(table.find(handle)->accepted_by == mark);
    }
    for (const std::uint64_t handle : gone) RC_ASSERT(table.find(handle) == nullptr);
  }
}

TEST(ConnectionTable, RemovingASlotClosesItsSocketOnceAndAllCanBeVisitedWhileTheyGo) {
  const int before = open_descriptors();
  ConnectionTable table;
  std::vector<SocketPair> pairs(20);
  for (SocketPair& pair : pairs) static_cast<void>(table.add(std::move(pair.a)));
  EXPECT_EQ(open_descriptors(), before + 40);
  int visited = 0;
  table.for_each([&](ConnectionSlot& slot) {
    ++visited;
    table.remove(slot);
  });
  EXPECT_EQ(visited, 20);
  EXPECT_EQ(table.live(), 0U);
  EXPECT_EQ(open_descriptors(), before + 20);
}

TEST(ConnectionTable, APlaceThatIsFreeIsUsedAgain) {
  ConnectionTable table;
  const auto place_of = [](const ConnectionSlot& slot) { return static_cast<std::uint32_t>(slot.handle()); };
  ConnectionSlot& first = table.add(UniqueFd());
  const std::uint32_t place = place_of(first);
  table.remove(first);
  for (int i = 0; i < 10; ++i) {
    ConnectionSlot& again = table.add(UniqueFd());
    EXPECT_EQ(place_of(again), place) << "a table that never uses a place again grows with every connection";
    table.remove(again);
  }
}

TEST(ConnectionTable, AHandleOfNothingFindsNothing) {
  ConnectionTable table;
  EXPECT_EQ(table.find(0), nullptr);
  ConnectionSlot& slot = table.add(UniqueFd());
  EXPECT_EQ(table.find(slot.handle() + 1), nullptr);
  EXPECT_EQ(table.find(slot.handle() + (std::uint64_t{1} << 32)), nullptr);
}

// proves: INV-16
RC_GTEST_PROP(StopCell, TheValueOnlyEverComesNearerToCut, ()) {
  StopCell cell;
  const MonoTime now{Duration{1'000'000}};
  const auto rank = [&] {
    const StopCell::View view = cell.read(now);
    return std::make_pair(static_cast<int>(view.phase), -view.deadline.time_since_epoch().count());
  };
  for (const int step : *rc::gen::container<std::vector<int>>(12, rc::gen::inRange(0, 12))) {
    const auto before = rank();
    const bool changed = step == 0   ? cell.request()
                         : step == 1 ? cell.cut()
                                     : cell.drain_until(MonoTime{Duration{step * 400'000}});
    const auto after = rank();
    RC_ASSERT(after.first > before.first ||
              (after.first == before.first && (after.second >= before.second || after.first == 2)));
    if (!changed) RC_ASSERT(after == before);
    RC_ASSERT(cell.is_running() == (after.first == 0));
  }
}

// proves: INV-16
TEST(StopCell, ADeadlineThatHasComeReadsAsCutAndAStopMayComeTwice) {
  StopCell cell;
  const MonoTime deadline{Duration{5000}};
  EXPECT_TRUE(cell.request());
  EXPECT_EQ(cell.read(deadline).phase, StopPhase::kDraining);
  EXPECT_EQ(cell.read(deadline).deadline, kNever);
  EXPECT_TRUE(cell.drain_until(deadline));
  EXPECT_EQ(cell.read(deadline - Duration{1}).phase, StopPhase::kDraining);
  EXPECT_EQ(cell.read(deadline).phase, StopPhase::kCut);
  EXPECT_FALSE(cell.drain_until(deadline + Duration{1}));
  EXPECT_TRUE(cell.request());
  EXPECT_EQ(cell.read(MonoTime{}).phase, StopPhase::kCut);
  EXPECT_FALSE(cell.request());
  EXPECT_FALSE(cell.cut());
}

TEST(StopCell, AnyDeadlineCanBeSet) {
  for (const std::int64_t ns : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}}) {
    StopCell cell;
    EXPECT_TRUE(cell.drain_until(MonoTime{Duration{ns}}));
    EXPECT_EQ(cell.read(MonoTime{Duration{1}}).phase, StopPhase::kCut);
  }
  StopCell cell;
  EXPECT_TRUE(cell.drain_until(kNever));
  EXPECT_EQ(cell.read(MonoTime{Duration{INT64_MAX - 10}}).phase, StopPhase::kDraining);
}

TEST(WorkerStats, ALongErrorTextIsCutAndReadableByAnother) {
  WorkerStats stats;
  std::thread writer([&] { stats.set_crashed(std::string(2000, 'x')); });
  while (!stats.crashed()) std::this_thread::yield();
  EXPECT_EQ(stats.error(), std::string(512, 'x'));
  writer.join();
}

TEST(ErrorReporter, ASinkGetsEveryLineAndMayThrow) {
  int lines = 0;
  ErrorReporter reporter([&](std::string_view) {
    if (++lines % 2 == 0) throw std::runtime_error("a sink that breaks its promise");
  });
  for (int i = 0; i < 100; ++i) reporter.report("line");
  EXPECT_EQ(lines, 100);
}

TEST(ErrorReporter, WithoutASinkLinesGoToStderrAtMostTenASecond) {
  ::testing::internal::CaptureStderr();
  const auto begin = std::chrono::steady_clock::now();
  ErrorReporter reporter{ErrorSink{}};
  for (int i = 0; i < 500; ++i) reporter.report("line");
  const std::string text = ::testing::internal::GetCapturedStderr();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_GE(lines, 10);
  EXPECT_LE(lines, 10 * (seconds.count() + 2));
  EXPECT_EQ(text.substr(0, 12), "flare: line\n");
}

}  // namespace
}  // namespace flare::testing
