// dispatch.h: a tape of operations on two reactors and a few descriptors, compared with dispatch_model.h.
// Threads:    one.
// Owns:       the descriptors that the tape opened.
// Source:     reactor.h. The operations that break its rules (close before unregister, a number that is gone) are there
//             too: they must do no harm.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "dispatch_host.h"
#include "dispatch_model.h"
#include "flare/reactor/reactor.h"
#include "tape.h"

namespace flare::fuzz {

inline constexpr std::size_t kReactors = 2;
inline constexpr std::size_t kRetained = 8;     // events that are asked about after every step
inline constexpr std::size_t kWholeBatch = 64;  // of events, when all must come; rarely there are more

// a: slot, other slot, reactor. b: interest, batch size, what else.
struct Arguments {
  explicit Arguments(Op op)
      : slot(op.a % kSlots), other(op.a / kSlots % kSlots), reactor(op.a >> 6U & 1U), flag(op.a >> 7U), number(op.b) {}
  std::size_t slot;
  std::size_t other;
  std::size_t reactor;
  bool flag;
  unsigned number;
  // Whether an operation that must fail is tried all the same. Each failure costs an exception, so that is rare.
  bool insists() const { return number % 8 == 7; }
  // Now and then a bad one.
  int interest() const {
    if (number % 32 == 31) return number >= 128 ? 0 : 4;
    return static_cast<int>(1 + number % 3);
  }
  int batch() const { return number >= 250 ? 0 : number % 4 == 3 ? 64 : static_cast<int>(1 + number % 4); }
};

class Dispatch {
 public:
  Dispatch() = default;
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;
  // Every tape begins with nothing; only memory is kept from one to the next.
  void run(const Tape& tape);
  static const char* name_of(Op op) { return kOperations[op.code % kOperations.size()].first; }

 private:
  struct Retained {
    Event event;
    unsigned identity = 0;
    unsigned serial = 0;  // 0: a wake
  };
  using Operation = void (Dispatch::*)(const Arguments&);
  static const std::array<std::pair<const char*, Operation>, 16> kOperations;

  void open_event(const Arguments& at);
  void open_pair(const Arguments& at);
  void close(const Arguments& at);
  void leave(const Arguments& at);
  void reuse(const Arguments& at);
  void duplicate(const Arguments& at);
  void write(const Arguments& at);
  void read(const Arguments& at);
  void add(const Arguments& at) { add_as(at, false); }
  void add_exclusive(const Arguments& at) { add_as(at, true); }
  void add_as(const Arguments& at, bool exclusive);
  void modify(const Arguments& at);
  void unregister(const Arguments& at);
  void wakeup(const Arguments& at);
  void poll(const Arguments& at);
  void move(const Arguments& at);

  void begin();
  void end();
  Reactor& reactor(std::size_t i);
  void close_slot(std::size_t slot);
  void unregister_slot(std::size_t slot, std::size_t from);
  bool is_free_or_ours(int fd) const { return files_.file_of(fd) >= 0 || !host::is_open(fd); }
  void expect(int error, int got, const char* what) const;
  void check_event(const Event& event, std::size_t from);
  void check_state() const;
  void check_retained(const Retained& one) const;

  Files files_;
  std::array<ReactorModel, kReactors> models_{ReactorModel(files_), ReactorModel(files_)};
  std::array<std::optional<Reactor>, kReactors> reactors_;
  std::vector<Event> events_;
  std::array<Retained, kRetained> retained_;
  std::size_t next_retained_ = 0;
  std::vector<unsigned> seen_;
  unsigned serials_ = 0;
  unsigned identities_ = 0;
  std::size_t step_ = 0;
};

}  // namespace flare::fuzz
