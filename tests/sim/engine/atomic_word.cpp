#include "engine/atomic_word.h"

#include <array>

#include "engine/arena.h"
#include "engine/tsan.h"

namespace flare::sim {

namespace {

constexpr std::uint32_t kStores = 8;  // the newest and seven that a load may still see

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst || order == std::memory_order_consume;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

struct Store {
  std::uint64_t bits = 0;
  VectorClock published;
  // When each thread wrote it or first saw it, 0: never. Whoever knows of such a moment sees no older store.
  std::array<std::uint32_t, kMaxThreads> seen{};

  void see(int thread, std::uint32_t time) {
    std::uint32_t& first = seen[static_cast<std::size_t>(thread)];
    if (first == 0) first = time;
  }
  bool is_known(const VectorClock& clock) const {
    for (int i = 0; i < kMaxThreads; ++i) {
      const std::uint32_t first = seen[static_cast<std::size_t>(i)];
      if (first != 0 && clock.of(i) >= first) return true;
    }
    return false;
  }
};

}  // namespace

struct StoreHistory {
  std::array<Store, kStores> ring;
  std::uint32_t newest = 0;
  // The newest store that a sequentially consistent operation made or saw: the later ones see none before it.
  std::uint32_t newest_seq_cst = 0;

  Store& at(std::uint32_t sequence) { return ring[sequence % kStores]; }
};

AtomicWord::~AtomicWord() {
  delete history;
}

namespace {

void enter(const AtomicWord& word, bool writes, Name call) {
  Schedule& schedule = *Schedule::current();
  schedule.point(word.object, writes, call, schedule.options().atomic_points);
}

StoreHistory& history_of(const AtomicWord& word) {
  if (word.history == nullptr) {
    word.history = new StoreHistory;
    word.history->at(0).bits = word.bits;
  }
  return *word.history;
}

// The oldest store that the running thread may still see.
std::uint32_t oldest_visible(StoreHistory& history, const VectorClock& clock, bool seq_cst) {
  std::uint32_t oldest = history.newest >= kStores ? history.newest - kStores + 1 : 0;
  if (seq_cst && history.newest_seq_cst > oldest) oldest = history.newest_seq_cst;
  for (std::uint32_t i = history.newest; i > oldest; --i) {
    if (history.at(i).is_known(clock)) return i;
  }
  return oldest;
}

void acquire(const AtomicWord& word, std::memory_order order) {
  if (!acquires(order)) return;
  Schedule::current()->clock().join(word.published);
  tsan::acquire(&word);
}

void see(StoreHistory& history, std::uint32_t sequence, std::memory_order order) {
  Schedule& schedule = *Schedule::current();
  const int thread = schedule.thread();
  schedule.clock().tick(thread);
  history.at(sequence).see(thread, schedule.clock().of(thread));
  if (acquires(order)) schedule.clock().join(history.at(sequence).published);
  if (order == std::memory_order_seq_cst && sequence > history.newest_seq_cst) history.newest_seq_cst = sequence;
}

std::uint64_t load_stale(const AtomicWord& word, std::memory_order order) {
  Schedule& schedule = *Schedule::current();
  StoreHistory& history = history_of(word);
  const std::uint32_t oldest = oldest_visible(history, schedule.clock(), order == std::memory_order_seq_cst);
  const std::uint32_t back = schedule.choose(history.newest - oldest + 1, ChoiceKind::kStale, "store");
  see(history, history.newest - back, order);
  return history.at(history.newest - back).bits;
}

// The older stores that a compare-exchange may see and then fail: those that are not what it expects.
std::uint32_t choose_failing_store(const AtomicWord& word, std::uint64_t expected, std::memory_order failure) {
  Schedule& schedule = *Schedule::current();
  StoreHistory& history = history_of(word);
  const std::uint32_t oldest = oldest_visible(history, schedule.clock(), failure == std::memory_order_seq_cst);
  std::array<std::uint32_t, kStores> candidates{history.newest};
  std::uint32_t count = 1;
  for (std::uint32_t i = history.newest; i-- > oldest;) {
    if (history.at(i).bits != expected) candidates[count++] = i;
  }
  return candidates[schedule.choose(count, ChoiceKind::kStale, "store")];
}

void remember_store(AtomicWord& word, std::memory_order order) {
  StoreHistory& history = history_of(word);
  Schedule& schedule = *Schedule::current();
  const std::uint32_t sequence = ++history.newest;
  const int thread = schedule.thread();
  history.at(sequence) = {word.bits, word.published, {}};
  history.at(sequence).see(thread, schedule.clock().of(thread));
  if (order == std::memory_order_seq_cst) history.newest_seq_cst = sequence;
}

// What a store publishes. A read-modify-write keeps what the store before it published.
void publish(AtomicWord& word, std::memory_order order, bool continues) {
  Schedule& schedule = *Schedule::current();
  if (!continues) word.published.clear();
  if (releases(order)) {
    word.published.join(schedule.clock());
    continues ? tsan::release(&word) : tsan::release_store(&word);
  }
  if (schedule.options().weak_memory) remember_store(word, order);
  schedule.clock().tick(schedule.thread());
}

}  // namespace

std::uint64_t load(const AtomicWord& word, std::memory_order order) {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) return word.bits;
  enter(word, false, "load");
  std::uint64_t bits = word.bits;
  if (schedule->options().weak_memory) {
    bits = load_stale(word, order);
  } else {
    acquire(word, order);
  }
  schedule->note("load", word.object.id, static_cast<std::int64_t>(bits));
  return bits;
}

void store(AtomicWord& word, std::uint64_t value, std::memory_order order) {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) {
    word.bits = value;
    return;
  }
  enter(word, true, "store");
  if (schedule->options().weak_memory) static_cast<void>(history_of(word));
  word.bits = value;
  publish(word, order, false);
  schedule->note("store", word.object.id, static_cast<std::int64_t>(value));
}

std::uint64_t read_modify_write(AtomicWord& word, Combine combine, std::uint64_t operand, std::memory_order order) {
  Schedule* schedule = Schedule::current();
  const std::uint64_t before = word.bits;
  if (schedule == nullptr) {
    word.bits = combine(before, operand);
    return before;
  }
  enter(word, true, "read-modify-write");
  const std::uint64_t newest = word.bits;
  if (schedule->options().weak_memory) static_cast<void>(history_of(word));
  acquire(word, order);
  word.bits = combine(newest, operand);
  publish(word, order, true);
  schedule->note("read-modify-write", word.object.id, static_cast<std::int64_t>(word.bits));
  return newest;
}

bool compare_exchange(AtomicWord& word, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                      std::memory_order failure, bool weak) {
  Schedule* schedule = Schedule::current();
  if (schedule == nullptr) {
    if (word.bits != expected) {
      expected = word.bits;
      return false;
    }
    word.bits = desired;
    return true;
  }
  enter(word, true, "compare-exchange");
  const bool spurious = weak && schedule->choose(2, ChoiceKind::kCalm, "spurious compare-exchange") != 0;
  const bool stale = schedule->options().weak_memory;
  StoreHistory* history = stale ? &history_of(word) : nullptr;
  const std::uint32_t seen = stale ? choose_failing_store(word, expected, failure) : 0;
  if (word.bits == expected && !spurious && (!stale || seen == history->newest)) {
    acquire(word, success);
    word.bits = desired;
    publish(word, success, true);
    schedule->note("compare-exchange", word.object.id, static_cast<std::int64_t>(desired));
    return true;
  }
  if (stale) {
    see(*history, seen, failure);
    expected = history->at(seen).bits;
  } else {
    expected = word.bits;
    acquire(word, failure);
  }
  schedule->note("compare-exchange fails", word.object.id, static_cast<std::int64_t>(expected));
  return false;
}

}  // namespace flare::sim
