// arena.h: the memory of one schedule: dropped as a whole, and every piece of it accounted for.
// Threads:    one real thread.
// Bounds:     kArenaSize bytes per schedule; a schedule that wants more fails.
// Ordering:   while a fiber of a schedule runs, operator new takes from here; HostScope turns that off for the
//             engine's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/tsan.h"

namespace flare::sim {

struct ArenaCounts {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t live_bytes = 0;
};

namespace arena {

inline constexpr std::size_t kArenaSize = std::size_t{64} << 20;

extern bool taking;    // operator new takes from the arena
extern bool may_fail;  // what is taken now counts for fail_at: the product's own

// Forgets all that was taken.
void reset();
ArenaCounts counts();
// The offset of memory of the arena, above 0; 0: it is not of the arena.
std::size_t place_of(const void* memory);
// False: null, or a piece of the arena that was freed and not taken again.
bool is_live(const void* piece);
// False: a byte that the address sanitizer knows to be freed. Without the sanitizer all are readable.
bool is_readable(const void* memory);
// The n-th allocation of the product from now on (1 is the next) throws bad_alloc; 0: none does.
void fail_at(std::uint64_t nth);
bool was_failed();
// What went wrong with a free ("freed twice", "not from here"); called instead of returning.
extern void (*on_misuse)(const char* what);

}  // namespace arena

// The engine's own allocations inside a schedule, which outlive it.
class HostScope {
 public:
  HostScope() : before_(arena::taking) { arena::taking = false; }
  ~HostScope() { arena::taking = before_; }
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;

 private:
  [[no_unique_address]] tsan::Engine engine_;
  bool before_;
};

}  // namespace flare::sim
