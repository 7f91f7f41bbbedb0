// bars_timer_wheel: one measured section for scripts/bars-timer, which counts the instructions inside flare_measured.
//
//   bars_timer_wheel hold PENDING RANGE_MS FIRES   holds PENDING timers with delays of 1..RANGE_MS until FIRES fired
//   bars_timer_wheel advance DEADLINE_MS TO_MS COUNT   advances COUNT wheels of one timer each, once
//
// Prints how many units (fired timers, or advances) the section held.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "flare/timer/timer_wheel.h"

namespace {

using flare::TimerWheel;

// Constant cost and no library: what it takes is the same at every size.
class Delays {
 public:
  explicit Delays(std::uint64_t range_ms) : range_(range_ms) {}
  std::uint64_t next() {
    state_ = state_ * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
    return 1 + (state_ >> 32) % range_;
  }

 private:
  std::uint64_t range_;
  std::uint64_t state_ = 1;
};

struct Hold {
  TimerWheel wheel;
  Delays delays;
  std::uint64_t step;
  std::uint64_t fires;
};

}  // namespace

// The name that callgrind toggles on; two sections, never both in one run.
extern "C" [[gnu::noinline]] std::uint64_t flare_measured_hold(Hold& hold) {
  std::uint64_t fired = 0;
  for (std::uint64_t now = hold.step; fired < hold.fires; now += hold.step) {
    fired += hold.wheel.advance(now, [&hold](std::uint64_t token) { hold.wheel.schedule(hold.delays.next(), token); });
  }
  return fired;
}

extern "C" [[gnu::noinline]] std::uint64_t flare_measured_advance(std::vector<std::unique_ptr<TimerWheel>>& wheels,
                                                                  std::uint64_t to_ms) {
  std::uint64_t tokens = 0;
  for (const auto& wheel : wheels) wheel->advance(to_ms, [&tokens](std::uint64_t token) { tokens += token; });
  return tokens;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto number = [argv](int at) { return std::strtoull(argv[at], nullptr, 10); };
  if (std::strcmp(argv[1], "hold") == 0) {
    // Some 16 timers fire in one advance at every size, so that the cost of an advance itself is shared alike.
    const std::uint64_t pending = number(2);
    const std::uint64_t step = number(3) * 16 / pending;
    Hold hold{TimerWheel(), Delays(number(3)), step == 0 ? 1 : step, number(4)};
    for (std::uint64_t token = 0; token < pending; ++token) hold.wheel.schedule(hold.delays.next(), token);
    std::printf("%llu\n", static_cast<unsigned long long>(flare_measured_hold(hold)));
    return 0;
  }
  std::vector<std::unique_ptr<TimerWheel>> wheels;
  for (std::uint64_t at = 0; at < number(4); ++at) {
    wheels.push_back(std::make_unique<TimerWheel>());
    wheels.back()->schedule_at(number(2), 1);
  }
  flare_measured_advance(wheels, number(3));
  std::printf("%llu\n", number(4));
  return 0;
}
