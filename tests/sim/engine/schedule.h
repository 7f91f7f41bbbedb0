// schedule.h: one execution under control: its threads, its time, its choices, its verdict.
// Threads:    one real thread; the threads of the model are fibers, one runs at a time.
// Owns:       the fibers and the engine's records; the product's memory is the arena's.
// Ordering:   nothing of a schedule outlives it: two runs with the same choices have one hash.
// Source:     own design.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/choice.h"
#include "engine/fiber.h"
#include "engine/name.h"
#include "engine/vector_clock.h"

namespace flare::sim {

using SimTime = std::int64_t;  // nanoseconds
inline constexpr SimTime kEndOfTime = INT64_MAX;

// Ids of shared objects: of the arena, of descriptors, of anything else.
inline constexpr std::uint32_t kArenaIds = 1U << 20;
inline constexpr std::uint32_t kDescriptorIds = 1U << 16;
inline constexpr std::uint32_t kOtherIds = std::uint32_t{kMaxThreads} << 10;
inline constexpr std::uint32_t kIds = kArenaIds + kDescriptorIds + kOtherIds;

struct ScheduleOptions {
  bool trace = false;
  bool every_point = false;   // unlocks and what only one thread uses are scheduling points too
  bool atomic_points = true;  // false: atomics are none, locks and calls alone are
  bool weak_memory = false;   // loads choose among the stores that they may see
  std::uint32_t max_steps = 50'000;
};

// What two threads may use in an order that no lock decides. Its id is the same in every schedule: of memory of the
// arena its place, which is fixed for what the control thread made before the first worker; of a descriptor its
// generation; of anything else the n-th of the thread that first used it.
struct SharedObject {
  std::uint32_t id = 0;  // 0: not used yet
  int only_thread = -1;  // -2: several
  Epoch last_write;
  VectorClock accesses;
  // What led to its state: the history of the last writer, and of those who read since. Two schedules that order the
  // same operations alike give the same histories, so the same state.
  std::uint64_t written_by = 0;
  std::uint64_t read_by = 0;
};

// The objects that some schedule saw used without an order: the scheduling points of all that follow.
class LearnedObjects {
 public:
  LearnedObjects() : known_(kIds) {}
  bool contains(std::uint32_t id) const { return known_[id] != 0; }
  bool add(std::uint32_t id) {
    if (known_[id]) return false;
    known_[id] = 1;
    ++size_;
    return true;
  }
  int size() const { return size_; }

 private:
  std::vector<std::uint8_t> known_;
  int size_ = 0;
};

struct TraceLine {
  int thread;
  Name call;
  std::int64_t argument;
  std::int64_t result;
  SimTime time;
  std::string text;
};

struct Verdict {
  std::string oracle;  // empty: nothing was found
  std::string text;
  std::string nondeterminism;
  ChoiceString choices;  // those that are not 0
  std::uint64_t hash = 0;
  std::uint32_t steps = 0;  // kernel calls and operations of sync.h, scheduling points or not
  std::uint32_t points = 0;
  int threads = 0;
  bool learned_more = false;
  bool pruned = false;  // it met a state from which everything was explored already
  std::vector<TraceLine> trace;
  std::vector<std::string> thread_names;
  bool ok() const { return oracle.empty() && nondeterminism.empty(); }
};

class Schedule {
 public:
  using Ready = bool (*)(void*);

  Schedule();
  ~Schedule();

  // Host only. Runs body as thread 0, to the end of all threads.
  Verdict run(ChoiceSource& source, const ScheduleOptions& options, LearnedObjects& learned,
              const std::function<void()>& body);

  // The one that runs now; null on the host.
  static Schedule* current() { return current_; }

  // --- for threads of the model ---
  int thread() const { return running_; }
  // Returns the new thread's number. The body is destroyed by its thread.
  int spawn(std::unique_ptr<std::function<void()>> body, Name name);
  // Whether the running thread executes the product: its allocations may be made to fail (arena::fail_at).
  void set_product(bool product);
  void set_product_of(int thread) { slots_[static_cast<std::size_t>(thread)].product = true; }
  bool has_finished(int thread) const { return slot(thread).state == State::kFinished; }
  void join(int thread);

  // Before an operation that another thread can observe.
  void point(SharedObject& object, bool writes, Name call, bool schedules = true);
  void lock_point(SharedObject& object, Name call);
  void always_point(Name call);
  // Whether anybody asks which state this is: else no history is written.
  bool keeps_histories() const { return keeps_histories_; }
  // The running thread's history takes in what it finds in the object; the object's, if it writes, what the thread did.
  void touch(SharedObject& object, bool writes, Name call);
  void touch_value(std::uint64_t value);
  std::uint64_t history() const { return slot(running_).history; }
  // Waits until ready(argument) or the deadline. False: the deadline came first.
  bool block(Name what, Ready ready, void* argument, SimTime deadline = kEndOfTime);
  void yield();
  std::uint32_t choose(std::uint32_t options, ChoiceKind kind, Name what);
  void note(Name call, std::int64_t argument, std::int64_t result);
  void note_text(Name call, std::string text);
  [[noreturn]] void fail(Name oracle, std::string text);
  // Fails unless condition holds.
  void require(bool condition, Name oracle, const char* text) {
    if (!condition) fail(oracle, text);
  }
  SimTime now() const { return now_; }
  VectorClock& clock() { return slots_[static_cast<std::size_t>(running_)].clock; }
  const ScheduleOptions& options() const { return *options_; }
  int alive() const { return alive_; }
  void step() {
    if (++steps_ > options_->max_steps) fail("livelock", "the schedule does not end");
  }

 private:
  enum class State : std::uint8_t { kUnused, kRunnable, kBlocked, kFinished };
  struct Slot {
    Fiber fiber;
    State state = State::kUnused;
    Ready ready = nullptr;
    void* argument = nullptr;
    SimTime deadline = kEndOfTime;
    Name waits_for;
    VectorClock clock;
    std::uint64_t history = 0;
    std::uint32_t objects = 0;
    bool product = false;
    std::unique_ptr<std::function<void()>> body;
    const std::function<void()>* borrowed = nullptr;
    std::string name;
  };

  const Slot& slot(int thread) const { return slots_[static_cast<std::size_t>(thread)]; }
  static void thread_main(void* argument);
  void prepare(int thread, Name name);
  void identify(SharedObject& object);
  void check_alive(const SharedObject& object, Name call);
  static bool is_ready(Ready ready, void* argument);
  bool is_enabled(const Slot& one) const;
  int others_enabled(std::array<int, kMaxThreads>& threads) const;
  bool is_outranked() const;
  bool is_point(const SharedObject& object) const {
    return options_->every_point || learned_->contains(object.id) || source_->chooses_at(site_ + 1);
  }
  void preempt(Name call);
  void leave(ChoiceKind kind, Name what);
  void switch_to(int thread);
  std::uint32_t choose_thread(ChoiceKind kind, Name what, const int* threads, std::uint32_t count);
  void record(Choice choice);
  bool is_known(const Choice& choice);
  std::uint32_t ask(const Choice& choice, const int* threads);
  std::uint64_t signature(const Choice& choice) const;
  std::string describe_deadlock() const;
  void clear_slots();

  static Schedule* current_;
  std::array<Slot, kMaxThreads> slots_;
  ChoiceSource* source_ = nullptr;
  const ScheduleOptions* options_ = nullptr;
  LearnedObjects* learned_ = nullptr;
  int running_ = 0;
  int threads_ = 0;
  int alive_ = 0;
  bool over_ = false;
  bool keeps_histories_ = false;
  SimTime now_ = 0;
  std::uint32_t site_ = 0;
  std::uint32_t steps_ = 0;
  std::uint32_t points_ = 0;
  std::uint64_t hash_ = 0;
  Verdict verdict_;
};

// While it stands the control thread executes the product, and its allocations may fail.
class ProductScope {
 public:
  ProductScope() { Schedule::current()->set_product(true); }
  ~ProductScope() { Schedule::current()->set_product(false); }
  ProductScope(const ProductScope&) = delete;
  ProductScope& operator=(const ProductScope&) = delete;
};

// How many hold a counted pointer's object. Threads of a schedule run one at a time, so it needs no atomic.
class HolderCount {
 public:
  void join();
  // Publishes what the running thread did, and learns what the others published. True: it was the last one.
  bool leave();

 private:
  long holders_ = 1;
  VectorClock published_;
};

// Finds two uses of one plain field, one of them a write, that nothing orders.
class RaceWatch {
 public:
  void read();
  void write();

 private:
  Epoch last_write_;
  VectorClock reads_;
};

}  // namespace flare::sim
