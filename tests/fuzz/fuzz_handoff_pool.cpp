// A tape of operations on a WorkerHandoffPool, by one thread, compared with handoff_model.h after every step. What
// threads do to each other is the simulation's to find; here it is what each call promises.
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flare/handoff/worker_handoff_pool.h"
#include "handoff_model.h"
#include "tape.h"
#include "target.h"

namespace flare::fuzz {
namespace {

// The first operation is no operation: its bytes are the pool's shape.
PoolShape shape_of(Op op) {
  PoolShape shape;
  shape.enabled = op.code % 8 != 0;
  shape.capacity = op.a % 5;
  shape.workers = 1 + op.a / 5 % 4;
  shape.cap = op.b % 5;
  shape.threshold = op.b / 5 % 4;
  return shape;
}

// Two workers, the second for what needs a peer; now and then one that does not exist.
struct Arguments {
  explicit Arguments(Op op) : worker(op.a % 6 == 5 ? -1 : op.a % 6), peer(op.a / 6 % 6), number(op.b) {}
  int worker;
  int peer;
  std::int64_t number;
};

class PoolRun {
 public:
  explicit PoolRun(const PoolShape& shape)
      : model_(shape), pool_(HandoffPolicy(shape.enabled, shape.capacity, shape.threshold), shape.workers, shape.cap) {}
  void run(const Tape& tape);
  static const char* name_of(Op op) { return kOperations[op.code % kOperations.size()].first; }

 private:
  using Operation = void (PoolRun::*)(const Arguments&);
  static const std::array<std::pair<const char*, Operation>, 16> kOperations;

  void push(const Arguments& at);
  void push_made(const Arguments& at);
  void push_orphan(const Arguments& at);
  void drain(const Arguments& at);
  void close_and_drain(const Arguments& at);
  void take_back(const Arguments& at);
  void publish_load(const Arguments& at);
  void heartbeat(const Arguments& at);
  void crash(const Arguments& at);
  void begin_sleep(const Arguments& at);
  void end_sleep(const Arguments& at);
  void needs_wake(const Arguments& at);
  void accept_request(const Arguments& at);
  void pause(const Arguments& at);
  void choose(const Arguments& at);
  void move(const Arguments& at);

  void expect_one_of(const std::set<int>& wanted, int got, const char* what) const;
  template <class T>
  void expect(const T& wanted, const T& got, const char* what) const {
    require(wanted == got, step_, what);
  }
  void compare() const;
  void compare_worker(int id) const;

  HandoffModel model_;
  WorkerHandoffPool pool_;
  std::int64_t tokens_ = 0;  // each is pushed under a number of its own
  std::int64_t now_ms_ = 0;
  std::size_t step_ = 0;
};

const std::array<std::pair<const char*, PoolRun::Operation>, 16> PoolRun::kOperations{{
    {"push", &PoolRun::push},
    {"push made", &PoolRun::push_made},
    {"push orphan", &PoolRun::push_orphan},
    {"drain", &PoolRun::drain},
    {"close and drain", &PoolRun::close_and_drain},
    {"take back", &PoolRun::take_back},
    {"publish load", &PoolRun::publish_load},
    {"heartbeat", &PoolRun::heartbeat},
    {"crash", &PoolRun::crash},
    {"begin sleep", &PoolRun::begin_sleep},
    {"end sleep", &PoolRun::end_sleep},
    {"needs wake", &PoolRun::needs_wake},
    {"accept request", &PoolRun::accept_request},
    {"pause", &PoolRun::pause},
    {"choose", &PoolRun::choose},
    {"move", &PoolRun::move},
}};

// A token keeps all its bits.
std::int64_t spread(std::int64_t token) {
  return token * 0x1'0000'0001;
}

void PoolRun::push(const Arguments& at) {
  const std::int64_t token = spread(++tokens_);
  expect(model_.push(at.worker, token), pool_.try_handoff(at.worker, token), "try_handoff");
}

void PoolRun::push_made(const Arguments& at) {
  const std::int64_t token = spread(++tokens_);
  if (at.number % 4 != 0) {
    const bool pushed = pool_.handoff_made(at.worker, [token] { return std::optional<std::int64_t>(token); });
    expect(model_.push(at.worker, token), pushed, "handoff_made");
    return;
  }
  // Nothing is made: nothing changes, but a refusal counts as one.
  HandoffModel before = model_;
  const bool would = model_.push(at.worker, token);
  if (would) model_ = std::move(before);
  bool asked = false;
  const bool pushed = pool_.handoff_made(at.worker, [&asked] {
    asked = true;
    return std::optional<std::int64_t>();
  });
  expect(false, pushed, "handoff_made of nothing");
  expect(would, asked, "handoff_made asks for a token");
}

void PoolRun::push_orphan(const Arguments& at) {
  const std::int64_t token = spread(++tokens_);
  expect(model_.push_orphan(at.worker, token), pool_.push_orphan(at.worker, token), "push_orphan");
}

void PoolRun::drain(const Arguments& at) {
  std::vector<std::int64_t> out = {1, 2, 3};
  pool_.drain_local(at.worker, out);
  expect(model_.drain(at.worker), out, "drain_local");
}

void PoolRun::close_and_drain(const Arguments& at) {
  if (at.number % 4 != 0) return;  // rare: nothing much happens to a closed queue
  expect(model_.close_and_drain(at.worker), pool_.close_and_drain(at.worker), "close_and_drain");
}

void PoolRun::take_back(const Arguments& at) {
  expect(model_.take_back(at.worker, at.peer), pool_.take_back(at.worker, at.peer), "take_back");
}

void PoolRun::publish_load(const Arguments& at) {
  const std::int64_t live = at.number % 8 - 1;
  pool_.publish_load(at.worker, live);
  if (!model_.is_worker(at.worker)) return;
  model_.worker(at.worker).published = true;
  model_.worker(at.worker).live = live < 0 ? 0 : live;
}

void PoolRun::heartbeat(const Arguments& at) {
  now_ms_ += at.number;
  const MonoTime now{std::chrono::milliseconds(now_ms_)};
  pool_.publish_heartbeat(at.worker, now);
  if (!model_.is_worker(at.worker)) return;
  model_.worker(at.worker).beats = true;
  model_.worker(at.worker).heartbeat_ms = now_ms_;
  require(pool_.heartbeat(at.worker) == now, step_, "heartbeat");
}

void PoolRun::crash(const Arguments& at) {
  if (at.number % 4 != 0) return;
  pool_.mark_crashed(at.worker);
  if (model_.is_worker(at.worker)) model_.worker(at.worker).crashed = true;
}

void PoolRun::begin_sleep(const Arguments& at) {
  expect(model_.begin_sleep(at.worker), pool_.begin_sleep(at.worker), "begin_sleep");
}

void PoolRun::end_sleep(const Arguments& at) {
  pool_.end_sleep(at.worker);
  if (model_.is_worker(at.worker)) model_.end_sleep(at.worker);
}

void PoolRun::needs_wake(const Arguments& at) {
  expect(model_.needs_wake(at.worker), pool_.needs_wake(at.worker), "needs_wake");
}

void PoolRun::accept_request(const Arguments& at) {
  if (at.number % 2 == 0) {
    expect(model_.request_accept(at.worker), pool_.request_accept(at.worker), "request_accept");
  } else {
    expect(model_.take_accept_request(at.worker), pool_.take_accept_request(at.worker), "take_accept_request");
  }
}

void PoolRun::pause(const Arguments& at) {
  pool_.publish_paused(at.worker, at.number % 2 != 0);
  if (model_.is_worker(at.worker)) model_.worker(at.worker).paused = at.number % 2 != 0;
}

void PoolRun::expect_one_of(const std::set<int>& wanted, int got, const char* what) const {
  const bool right = wanted.empty() ? got == -1 : wanted.contains(got);
  if (!right) fail(step_, std::string(what) + " chose " + std::to_string(got));
}

void PoolRun::choose(const Arguments& at) {
  const int who = at.worker;
  const std::int64_t load = at.number % 16;
  expect_one_of(model_.idle_peers(who), pool_.peek_idle_worker(who), "peek_idle_worker");
  expect_one_of(model_.handoff_targets(who, load), pool_.choose_handoff_target(who, load), "choose_handoff_target");
  expect_one_of(model_.orphan_targets(who), pool_.choose_orphan_target(who), "choose_orphan_target");
  expect_one_of(model_.acceptors(who), pool_.choose_acceptor(who), "choose_acceptor");
  expect_one_of(model_.paused_peers(who), pool_.paused_peer(who), "paused_peer");
}

// The pool moves as a whole, and what it was moved from refuses everything.
void PoolRun::move(const Arguments& at) {
  WorkerHandoffPool moved(std::move(pool_));
  expect(0, pool_.size(), "a pool that was moved from has workers");
  expect(false, pool_.try_handoff(at.worker, 1), "a pool that was moved from takes a token");
  pool_ = std::move(moved);
}

void PoolRun::compare_worker(int id) const {
  expect(model_.load(id), pool_.load(id), "load");
  expect(model_.below_cap(id), pool_.below_cap(id), "below_cap");
  expect(model_.is_any_peer_below_cap(id), pool_.is_any_peer_below_cap(id), "is_any_peer_below_cap");
  if (!model_.is_worker(id)) return;
  const HandoffModel::Worker& one = model_.worker(id);
  expect(one.queue.size(), pool_.queue_depth(id), "queue_depth");
  expect(one.asleep, pool_.is_sleeping(id), "is_sleeping");
  expect(one.drains, pool_.drain_count(id), "drain_count");
}

void PoolRun::compare() const {
  for (int id = -1; id <= pool_.size(); ++id) compare_worker(id);
  expect(model_.paused_count(), pool_.paused_count(), "paused_count");
}

void PoolRun::run(const Tape& tape) {
  for (step_ = 1; step_ < tape.size(); ++step_) {
    const Op op = tape[step_];
    (this->*kOperations[op.code % kOperations.size()].second)(Arguments(op));
    compare();
  }
  for (int id = 0; id < pool_.size(); ++id) {
    const HandoffModel::Worker& one = model_.worker(id);
    HandoffQueue& queue = pool_.queue(id);
    require(queue.pushes() == one.pushes && queue.pops() == one.pops && queue.refused() == one.refused, step_,
            "counts");
    require(queue.is_closed() == one.closed, step_, "is_closed");
  }
}

}  // namespace

std::string dump_text(const std::uint8_t* data, std::size_t size) {
  const Tape tape(data, size);
  if (tape.size() == 0) return "empty\n";
  const PoolShape shape = shape_of(tape[0]);
  std::string text = std::string("0: ") + (shape.enabled ? "enabled" : "disabled") +
                     " workers=" + std::to_string(shape.workers) + " capacity=" + std::to_string(shape.capacity) +
                     " cap=" + std::to_string(shape.cap) + " threshold=" + std::to_string(shape.threshold) + '\n';
  for (std::size_t i = 1; i < tape.size(); ++i) {
    const Arguments at(tape[i]);
    text += std::to_string(i) + ": " + PoolRun::name_of(tape[i]) + " worker=" + std::to_string(at.worker) +
            " peer=" + std::to_string(at.peer) + " number=" + std::to_string(at.number) + '\n';
  }
  return text;
}

}  // namespace flare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flare::fuzz::begin_input(data, size);
  const flare::fuzz::Tape tape(data, size);
  if (tape.size() == 0) return 0;
  flare::fuzz::PoolRun run(flare::fuzz::shape_of(tape[0]));
  run.run(tape);
  return 0;
}
