#include "random_history.h"

#include <algorithm>
#include <array>
#include <vector>

#include "history/exact.h"

namespace flare::sim {

namespace {

enum class Fault : std::uint8_t {
  kNone,
  kLie,           // some other result is told
  kNewest,        // a pop takes the newest
  kDrop,          // an accepted value is not there
  kTwice,         // a pop leaves the value inside
  kNoCapacity,    // accepted though full
  kEarlyRefusal,  // refused though not full
  kLatePush,      // a value comes inside after its push has ended
  kBlind,         // a pop does not see what is there
  kOldSize,       // size as it was one change ago
  kStaysOpen,     // accepted though closed
  kPartDrain,     // a drain leaves the newest value, or says the values in another order
  kCount,
};

class Maker {
 public:
  Maker(Random& random, const Shape& shape, History& out) : random_(random), shape_(shape), out_(out) {}

  void make() {
    out_.clear();
    if (!one_in(random_, 6)) fault_ = static_cast<Fault>(1 + random_.below(static_cast<unsigned>(Fault::kCount) - 1));
    std::array<Running, 4> threads{};
    unsigned running = 0;
    bool pausing = false;
    unsigned number = 0;
    while (out_.size() < shape_.operations || running > 0) {
      if (out_.size() == shape_.operations && shape_.pending && one_in(random_, 4)) return;
      if (!late_.empty() && one_in(random_, 3)) put_late();
      if (shape_.quiescent && one_in(random_, 6)) pausing = true;
      if (running == 0) pausing = false;
      // Often the same thread goes on, so that not everything overlaps.
      if (one_in(random_, 3)) number = random_.below(shape_.threads);
      Running& thread = threads[number];
      if (thread.step == 0) {
        if (pausing || out_.size() == shape_.operations) continue;
        begin(number, thread);
        ++running;
      } else if (thread.step == 1) {
        act(thread);
      } else {
        end(thread);
        --running;
      }
    }
  }

 private:
  struct Running {
    int step = 0;  // 1: called, 2: its effect is there
    unsigned id = 0;
    OpKind kind = OpKind::kPush;
    Outcome outcome = Outcome::kOk;
    std::int64_t value = 0;
    std::vector<std::int64_t> list;
  };

  bool fails(Fault fault) { return fault_ == fault && !one_in(random_, 3); }

  void begin(unsigned number, Running& thread) {
    thread = Running{};
    thread.step = 1;
    const unsigned dice = random_.below(16);
    const bool plain = shape_.push_and_pop_only;
    thread.kind = dice < 7             ? OpKind::kPush
                  : plain || dice < 12 ? OpKind::kPop
                  : dice < 14          ? OpKind::kDrain
                  : dice == 14         ? OpKind::kSize
                                       : OpKind::kClose;
    thread.value = shape_.equal_values ? 1 + random_.below(2) : next_value_++;
    thread.id = out_.call(number, thread.kind, thread.kind == OpKind::kPush ? thread.value : 0);
  }

  void act(Running& thread) {
    thread.step = 2;
    const auto before = static_cast<std::int64_t>(inside_.size());
    switch (thread.kind) {
      case OpKind::kPush:
        push(thread);
        break;
      case OpKind::kPop:
        pop(thread);
        break;
      case OpKind::kSize:
        thread.value = fails(Fault::kOldSize) ? size_before_ : before;
        break;
      case OpKind::kClose:
        closed_ = true;
        [[fallthrough]];
      case OpKind::kDrain:
        drain(thread);
        break;
    }
    if (static_cast<std::int64_t>(inside_.size()) != before) size_before_ = before;
    if (fails(Fault::kLie)) lie(thread);
  }

  void push(Running& thread) {
    if (closed_ && !fails(Fault::kStaysOpen)) {
      thread.outcome = one_in(random_, 2) ? Outcome::kRefused : Outcome::kRefusedClosed;
    } else if ((inside_.size() >= shape_.capacity && !fails(Fault::kNoCapacity)) || fails(Fault::kEarlyRefusal)) {
      thread.outcome = one_in(random_, 2) ? Outcome::kRefused : Outcome::kRefusedFull;
    } else if (fails(Fault::kLatePush)) {
      late_.push_back(thread.value);
    } else if (!fails(Fault::kDrop)) {
      inside_.push_back(thread.value);
    }
  }

  void pop(Running& thread) {
    if (inside_.empty() || fails(Fault::kBlind)) {
      thread.outcome = Outcome::kEmpty;
      return;
    }
    const bool newest = fails(Fault::kNewest);
    thread.value = newest ? inside_.back() : inside_.front();
    if (fails(Fault::kTwice)) return;
    inside_.erase(newest ? inside_.end() - 1 : inside_.begin());
  }

  void drain(Running& thread) {
    thread.list.assign(inside_.begin(), inside_.end());
    inside_.clear();
    if (thread.list.empty() || !fails(Fault::kPartDrain)) return;
    if (one_in(random_, 2)) {
      inside_.push_back(thread.list.back());
      thread.list.pop_back();
    } else {
      std::reverse(thread.list.begin(), thread.list.end());
    }
  }

  void lie(Running& thread) {
    thread.value = 1 + random_.below(std::max(2U, static_cast<unsigned>(next_value_)));
    switch (thread.kind) {
      case OpKind::kPush:
        thread.outcome = static_cast<Outcome>(1 + random_.below(5));
        if (thread.outcome == Outcome::kEmpty) thread.outcome = Outcome::kOk;
        if (shape_.push_and_pop_only && shape_.capacity == kUnbounded) thread.outcome = Outcome::kOk;
        break;
      case OpKind::kPop:
        thread.outcome = one_in(random_, 2) ? Outcome::kOk : Outcome::kEmpty;
        break;
      case OpKind::kSize:
        thread.value = random_.below(4);
        break;
      case OpKind::kDrain:
      case OpKind::kClose:
        if (thread.list.empty() || one_in(random_, 2)) {
          thread.list.push_back(thread.value);
        } else {
          thread.list.pop_back();
        }
        break;
    }
  }

  void end(Running& thread) {
    thread.step = 0;
    if (thread.kind == OpKind::kDrain || thread.kind == OpKind::kClose) {
      out_.returned(thread.id, thread.list);
    } else {
      out_.returned(thread.id, thread.outcome, thread.value);
    }
  }

  void put_late() {
    inside_.push_back(late_.front());
    late_.erase(late_.begin());
  }

  Random& random_;
  const Shape& shape_;
  History& out_;
  Fault fault_ = Fault::kNone;
  std::vector<std::int64_t> inside_;
  std::vector<std::int64_t> late_;
  std::int64_t next_value_ = 1;
  std::int64_t size_before_ = 0;
  bool closed_ = false;
};

}  // namespace

Shape random_shape(Random& random) {
  Shape shape;
  shape.threads = 2 + random.below(3);
  shape.operations = 5 + random.below(5);
  shape.capacity = one_in(random, 8) ? kUnbounded : random.below(4);
  shape.push_and_pop_only = one_in(random, 4);
  shape.pending = one_in(random, 3);
  shape.equal_values = one_in(random, 8);
  shape.quiescent = one_in(random, 3);
  return shape;
}

Shape unbounded_shape(Random& random) {
  Shape shape;
  shape.threads = 2 + random.below(3);
  shape.operations = 5 + random.below(5);
  shape.capacity = kUnbounded;
  shape.push_and_pop_only = true;
  return shape;
}

void random_history(Random& random, const Shape& shape, History& out) {
  Maker(random, shape, out).make();
}

LongHistory as_long(const History& history) {
  LongHistory out;
  for (unsigned i = 0; i < history.size(); ++i) {
    const Operation& each = history[i];
    out.operations.push_back(each);
    const auto list = history.list_of(each);
    out.operations.back().list_at = out.values.size();
    out.values.insert(out.values.end(), list.begin(), list.end());
  }
  return out;
}

}  // namespace flare::sim
