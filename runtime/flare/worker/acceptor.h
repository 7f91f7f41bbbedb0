// acceptor.h: one worker's accepting: budget, choice, handoff, pause and resume.      Internal.
// Threads:    the owning worker.
// Owns:       accepted sockets until they are adopted here or pushed to a peer.
// Bounds:     accept_budget accepts in one pass; limits::kAcceptDryMax in the last one.
// Errors:     an error of one connection is counted; EMFILE and its kin pause, and so does a poller that has no room
//             for a listener that was taken out for a pause; what breaks the listener throws.
// Ordering:   every push of a pass is followed by its wake before a protocol is called or the worker blocks.
// Invariants: INV-03, INV-04, INV-05, INV-06, INV-08, INV-11, INV-17, INV-18.
// Not here:   serving what was accepted (connection_set.h).
// Source:     seeds, flare.runtime.handoff and scheduler; decisions 13 to 16.
#pragma once

#include <cstdint>
#include <vector>

#include "flare/base/abi.h"
#include "flare/base/unique_fd.h"
#include "flare/worker/accept_pace.h"
#include "flare/worker/connection_set.h"
#include "flare/worker/loop_state.h"

namespace flare::inline FLARE_ABI {

class Acceptor {
 public:
  Acceptor(LoopState& loop, ConnectionSet& connections);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Registers the listeners.
  void open();
  // A listener was readable, or a peer asked: accepts within the budget, hands off, wakes, adopts.
  void pass();
  // After connections were closed: resumes, and lets a paused peer try again.
  void after_closes();
  void on_retry_timer();
  void on_take_back_timer(int target);
  // Adopts what stands in this worker's queue.
  void adopt_queue();

  // Draining begins: clients that a listener kept back come up.
  void stop_deferring() noexcept;
  // Draining, at the end of the accept phase: accepts dry, unregisters, disables; then closes and adopts the queue.
  void close_phase();
  // Cut: unregisters and disables; what stands in the queue is counted and closed.
  void cut() noexcept;
  // Crash: unregisters, and gives away what is in hand. The rest is evacuate()'s (worker_exit.h).
  void abandon() noexcept;
  bool is_open() const { return open_; }
  // Something that this worker handed over may stand in a target's queue still.
  bool awaits_targets() const;

 private:
  enum class Outcome { kPlaced, kEmpty, kSkipped, kNoResources, kGone };
  enum class Sweep { kDry, kBudget, kAtCap, kNoResources };
  struct Kept {
    UniqueFd fd;
    int accepted_by;
    bool has_spoken;
  };

  Sweep sweep();
  Sweep accept_from(std::size_t index, int& budget);
  bool leaves_rest_to_poller(std::size_t index) const;
  Outcome accept_one(std::size_t index);
  Outcome accept_for_peer(std::size_t index);
  Outcome classify(int error, std::size_t index);
  void place(UniqueFd fd, std::size_t index);
  int choose_target() const;
  bool can_place() const;
  // What a listener that defers gave; once draining has begun it gives silent clients too.
  bool has_spoken(std::size_t index) const { return listeners_[index]->defers() && !loop_.draining; }
  std::int64_t own_load() const;
  void settle(Sweep result);
  bool resume();
  void arm_retry();
  bool pass_on();
  void wait_for_place();
  void ask_paused_peer();
  void remember_wake(int target);
  void flush_wakes() noexcept;
  void adopt_kept();
  bool expects_request();
  void learn(bool ended);
  void adopt_tokens(const std::vector<std::int64_t>& tokens);
  void accept_dry(std::size_t index);
  void register_listeners();
  bool try_register_listeners();
  void unregister_listener(std::size_t index) noexcept;
  void unregister_listeners() noexcept;
  void arm_take_back(int target, std::uint64_t drains_before);

  LoopState& loop_;
  ConnectionSet& connections_;
  WorkerHandoffPool& pool_;
  WorkerStats& stats_;
  const int id_;
  const std::vector<Shared<Listener>>& listeners_;
  std::vector<bool> registered_;               // by listener
  std::vector<AcceptPace> paces_;              // by listener
  std::vector<Kept> kept_;                     // accepted in this pass, to be adopted after the wakes
  std::vector<int> wake_;                      // targets pushed to in this pass
  std::vector<bool> wake_marked_;              // by worker
  std::vector<std::uint64_t> take_back_seen_;  // by worker: its drain count when the timer was set
  std::vector<bool> take_back_armed_;          // by worker
  std::vector<std::int64_t> tokens_;           // reused by adopt_queue
  bool paused_ = false;                        // for want of a place or of resources
  TimerId retry_timer_;
  Duration retry_after_ = limits::kAcceptRetryMin;
  std::size_t next_listener_ = 0;  // where the next sweep begins
  int at_once_ = 0;                // above 0: connections are read as soon as they are accepted, see expects_request
  unsigned adopted_ = 0;           // of those that were not known to have spoken
  bool has_shared_ = false;
  bool open_ = false;  // in the accept phase
};

}  // namespace flare::inline FLARE_ABI
