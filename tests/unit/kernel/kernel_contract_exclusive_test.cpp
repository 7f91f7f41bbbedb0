// kernel_contract, second part: a listener that several pollers share.
#include <array>

#include "flare/base/sync.h"
#include "kernel_world.h"
#include "support/thread_state.h"
#include "support/wait_until.h"

namespace flare::testing {
namespace {

constexpr std::uint64_t kListenerKey = 1;
constexpr std::uint64_t kStopKey = 2;

template <class K>
class KernelExclusive : public KernelContract<K> {
 protected:
  // One waiter in its own thread: it waits once, without a limit, and notes what it saw.
  struct Waiter {
    UniqueFd poller;
    Atomic<int> thread_id{0};
    std::vector<ReadyEvent> seen;  // the waiter's, then, after the join, the test's
    Atomic<bool> done{false};
    Thread thread;
  };

  static void start(Waiter& waiter, const UniqueFd& listening, const UniqueFd& stop, AddMode mode) {
    waiter.poller = KernelContract<K>::poller();
    ASSERT_TRUE(K::poller_add(waiter.poller.get(), listening.get(), kListenerKey, kReadable, mode).ok());
    ASSERT_TRUE(K::poller_add(waiter.poller.get(), stop.get(), kStopKey, kReadable, AddMode::kShared).ok());
    waiter.thread = Thread::start([&waiter] {
                      waiter.thread_id.store(::gettid());
                      waiter.seen = KernelContract<K>::wait(waiter.poller, 4, -1);
                      waiter.done.store(true);
                    }).value();
    // Only of those that sleep does an exclusive registration choose one.
    ASSERT_TRUE(wait_until([&] { return is_asleep(waiter.thread_id.load()); }));
  }

  static bool saw(const Waiter& waiter, std::uint64_t key) {
    for (const ReadyEvent& event : waiter.seen) {
      if (event.key == key) return true;
    }
    return false;
  }

  // How many of three sleeping waiters one new client wakes.
  static int woken_by_one_client(AddMode mode) {
    const UniqueFd listening = KernelContract<K>::listener();
    const UniqueFd stop = KernelContract<K>::wake();
    std::array<Waiter, 3> waiters;
    for (Waiter& waiter : waiters) start(waiter, listening, stop, mode);
    const UniqueFd client(World<K>::connect(KernelContract<K>::address_of(listening)).value());
    EXPECT_TRUE(wait_until([&] {
      int done = 0;
      for (const Waiter& waiter : waiters) done += waiter.done.load() ? 1 : 0;
      return done >= (mode == AddMode::kExclusive ? 1 : 3);
    }));
    EXPECT_TRUE(K::wake_signal(stop.get()).ok());
    int woken = 0;
    for (Waiter& waiter : waiters) {
      waiter.thread.join();
      woken += saw(waiter, kListenerKey) ? 1 : 0;
    }
    // Nobody accepted: whoever took the wake sees the listener again, the others do not (decision 14).
    int still = 0;
    for (Waiter& waiter : waiters) {
      for (const ReadyEvent& event : KernelContract<K>::wait(waiter.poller)) still += event.key == kListenerKey ? 1 : 0;
    }
    EXPECT_EQ(woken, still);
    return woken;
  }
};
TYPED_TEST_SUITE(KernelExclusive, ContractKernels);

// proves: C-REACTOR-04
TYPED_TEST(KernelExclusive, OneClientWakesOneWaiterAndOnlyItsPollerKnows) {
  for (int round = 0; round < 10; ++round) ASSERT_EQ(1, this->woken_by_one_client(AddMode::kExclusive));
}

// The control: without the flag the herd comes, so the test above can fail.
TYPED_TEST(KernelExclusive, APlainRegistrationWakesAll) {
  EXPECT_EQ(3, this->woken_by_one_client(AddMode::kShared));
}

TYPED_TEST(KernelExclusive, CannotBeModified) {
  const UniqueFd poller = this->poller();
  const UniqueFd listening = this->listener();
  ASSERT_TRUE(TypeParam::poller_add(poller.get(), listening.get(), 1, kReadable, AddMode::kExclusive).ok());
  EXPECT_EQ(EINVAL, TypeParam::poller_modify(poller.get(), listening.get(), 1, kReadable).error);
  EXPECT_EQ(EINVAL, TypeParam::poller_modify(poller.get(), listening.get(), 1, kWritable).error);
  EXPECT_TRUE(TypeParam::poller_remove(poller.get(), listening.get()).ok());
}

// What a paused worker does when it resumes (decision 14): the new entry looks at the listener's state.
TYPED_TEST(KernelExclusive, AddingAgainFindsAClientThatWaits) {
  const UniqueFd listening = this->listener();
  const UniqueFd client(World<TypeParam>::connect(this->address_of(listening)).value());
  const UniqueFd poller = this->poller();
  ASSERT_TRUE(TypeParam::poller_add(poller.get(), listening.get(), 1, kReadable, AddMode::kExclusive).ok());
  EXPECT_EQ(1U, this->wait(poller, 4, 5000).size());
}

}  // namespace
}  // namespace flare::testing
