#include "engine/arena.h"

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/sanitizers.h"
#include "engine/tsan.h"

namespace flare::sim::arena {

bool taking = false;
bool may_fail = false;
void (*on_misuse)(const char* what) = nullptr;

namespace {

// In front of each piece. 16 bytes, so that what follows is aligned as malloc aligns.
struct Header {
  std::uint32_t size;
  std::uint32_t state;
  Header* next;  // in its free list
};
static_assert(sizeof(Header) == 16);

constexpr std::uint32_t kLive = 0x11fe11fe;
constexpr std::uint32_t kAligned = 0xa119a119;  // live, of a greater alignment: not reused
constexpr std::uint32_t kFreed = 0xdeaddead;
// What stands in freed memory: no pointer and no object's id, so that a use of it shows.
[[maybe_unused]] constexpr int kFreedByte = 0xdd;
[[maybe_unused]] constexpr std::size_t kMarked = 512;  // of each piece, its beginning
constexpr std::size_t kClasses = 64;                   // of 16 bytes: larger pieces are not reused

char* memory = nullptr;
std::size_t used = 0;
ArenaCounts count;
std::uint64_t fail_countdown = 0;
bool failed = false;
std::array<Header*, kClasses> free_lists{};

void map_memory() {
  // The same address in every process: a pointer in a trace is the same number everywhere. TSan has its own map.
#ifdef FLARE_SIM_TSAN
  void* wanted = nullptr;
#else
  void* wanted = reinterpret_cast<void*>(std::uintptr_t{0x200000000000});
#endif
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* mapped = ::mmap(wanted, kArenaSize, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED) std::abort();
  memory = static_cast<char*>(mapped);
  tsan::heap(memory, kArenaSize);
}

bool is_ours(const void* piece) {
  const auto* at = static_cast<const char*>(piece);
  return memory != nullptr && at >= memory && at < memory + kArenaSize;
}

#ifndef FLARE_SIM_ASAN
std::size_t class_of(std::size_t size) {
  return size / 16;
}
#endif

void* take(std::size_t size, std::size_t alignment = 16) {
  if (may_fail && fail_countdown != 0 && --fail_countdown == 0) {
    failed = true;
    throw std::bad_alloc();
  }
  if (memory == nullptr) map_memory();
  size = (size + 15) & ~std::size_t{15};
  ++count.allocations;
  count.live_bytes += size;
#ifndef FLARE_SIM_ASAN
  // Last freed, first reused: a use after free meets other data at once, and the arena stays small and warm.
  if (alignment == 16 && class_of(size) < kClasses && free_lists[class_of(size)] != nullptr) {
    Header* header = free_lists[class_of(size)];
    free_lists[class_of(size)] = header->next;
    header->state = kLive;
    tsan::allocated(header + 1, size);
    return header + 1;
  }
#endif
  const std::size_t start = ((used + sizeof(Header) + alignment - 1) & ~(alignment - 1)) - sizeof(Header);
  if (start + sizeof(Header) + size > kArenaSize) throw std::bad_alloc();
  auto* header = reinterpret_cast<Header*>(memory + start);
  used = start + sizeof(Header) + size;
#ifdef FLARE_SIM_ASAN
  __asan_unpoison_memory_region(header, sizeof(Header) + size);
#endif
  *header = Header{static_cast<std::uint32_t>(size), alignment == 16 ? kLive : kAligned, nullptr};
  if (size != 0) tsan::allocated(header + 1, size);
  return header + 1;
}

void give_back(void* piece) {
  Header* header = static_cast<Header*>(piece) - 1;
  const bool reusable = header->state == kLive;
  if (!reusable && header->state != kAligned) {
    if (on_misuse != nullptr) on_misuse(header->state == kFreed ? "freed twice" : "freed, but never allocated");
    std::abort();
  }
  header->state = kFreed;
  ++count.frees;
  count.live_bytes -= header->size;
#ifdef FLARE_SIM_ASAN
  __asan_poison_memory_region(piece, header->size);
#else
  std::memset(piece, kFreedByte, header->size < kMarked ? header->size : kMarked);
  tsan::forgotten(piece, header->size);
  if (reusable && class_of(header->size) < kClasses) {
    header->next = free_lists[class_of(header->size)];
    free_lists[class_of(header->size)] = header;
  }
#endif
}

}  // namespace

void reset() {
#ifdef FLARE_SIM_ASAN
  if (memory != nullptr) __asan_poison_memory_region(memory, used);
#endif
  tsan::forgotten(memory, used);
  used = 0;
  count = {};
  fail_countdown = 0;
  failed = false;
  free_lists = {};
}

ArenaCounts counts() {
  return count;
}

std::size_t place_of(const void* piece) {
  return is_ours(piece) ? static_cast<std::size_t>(static_cast<const char*>(piece) - memory) : 0;
}

bool is_live(const void* piece) {
  if (!is_ours(piece)) return piece != nullptr;
  return (static_cast<const Header*>(piece) - 1)->state != kFreed;
}

bool is_readable([[maybe_unused]] const void* at) {
#ifdef FLARE_SIM_ASAN
  return __asan_address_is_poisoned(at) == 0;
#else
  return true;
#endif
}

void fail_at(std::uint64_t nth) {
  fail_countdown = nth;
  failed = false;
}

bool was_failed() {
  return failed;
}

}  // namespace flare::sim::arena

using flare::sim::arena::give_back;
using flare::sim::arena::is_ours;
using flare::sim::arena::take;

void* operator new(std::size_t size) {
  if (flare::sim::arena::taking) return take(size);
  void* piece = std::malloc(size == 0 ? 1 : size);
  if (piece == nullptr) throw std::bad_alloc();
  return piece;
}

void operator delete(void* piece) noexcept {
  if (is_ours(piece)) {
    give_back(piece);
  } else {
    std::free(piece);
  }
}

void* operator new[](std::size_t size) {
  return operator new(size);
}
// What std::stable_sort asks for; the two forms must not come from two allocators.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (flare::sim::arena::taking) return take(size, static_cast<std::size_t>(alignment));
  void* piece = std::aligned_alloc(static_cast<std::size_t>(alignment), (size + 63) & ~std::size_t{63});
  if (piece == nullptr) throw std::bad_alloc();
  return piece;
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}
void operator delete(void* piece, std::align_val_t /*alignment*/) noexcept {
  operator delete(piece);
}
void operator delete[](void* piece, std::align_val_t /*alignment*/) noexcept {
  operator delete(piece);
}
void operator delete(void* piece, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  operator delete(piece);
}
void operator delete[](void* piece, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  operator delete(piece);
}
void operator delete(void* piece, std::size_t /*size*/) noexcept {
  operator delete(piece);
}
void operator delete[](void* piece) noexcept {
  operator delete(piece);
}
void operator delete[](void* piece, std::size_t /*size*/) noexcept {
  operator delete(piece);
}
