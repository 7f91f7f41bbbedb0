#include "flare/reactor/reactor.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "flare/base/assert.h"
#include "flare/base/network_error.h"
#include "flare/kernel/system_kernel.h"

namespace flare::inline FLARE_ABI {

namespace {

static_assert(INTEREST_READ == kReadable && INTEREST_WRITE == kWritable, "interests are the kernel's own bits");

constexpr std::uint64_t kWakeKey = ~std::uint64_t{0};
static_assert(kWakeKey == (std::uint64_t{RegistrationTable::kNoSlot} << 32U | RegistrationTable::kNoSlot));

std::string named(int fd) {
  return "fd " + std::to_string(fd);
}

void check_interest(int fd, int interest, const char* operation) {
  if (interest >= 1 && interest <= (INTEREST_READ | INTEREST_WRITE)) return;
  throw NetworkError(
      EINVAL, operation,
      named(fd) + ": interest " + std::to_string(interest) + ", expected INTEREST_READ, INTEREST_WRITE or both");
}

// spare: is taken where there is one.
UniqueFd open_poller(const Shared<Waker>& shared, UniqueFd spare = {}) {
  FLARE_ASSERT(shared != nullptr, "a Reactor needs a Waker");
  const Waker& waker = *shared;
  UniqueFd poller = std::move(spare);
  if (poller.get() < 0) {
    const Result<int> opened = SystemKernel::poller_open();
    if (!opened.ok()) throw NetworkError(opened.error(), "Reactor", "opening a poller");
    poller.reset(opened.value());
  }
  const Status added = SystemKernel::poller_add(poller.get(), waker.fd(), kWakeKey, kReadable, AddMode::kShared);
  if (!added.ok()) throw NetworkError(added.error, "Reactor", "watching the wake descriptor");
  return poller;
}

AddMode mode_of(bool exclusive) {
  return exclusive ? AddMode::kExclusive : AddMode::kShared;
}

}  // namespace

Reactor::Reactor() : Reactor(share<Waker>()) {}

Reactor::Reactor(Shared<Waker> waker)
    : id_(std::max<std::uint64_t>(SystemKernel::random_u64(), 1)),
      waker_(std::move(waker)),
      poller_(open_poller(waker_)),
      ready_(limits::kDefaultMaxEvents) {
  stale_keys_.reserve(limits::kStaleKeys);
}

Reactor::Reactor(Reactor&& other) noexcept = default;

Reactor& Reactor::operator=(Reactor&& other) noexcept {
  if (this == &other) return *this;
  id_ = other.id_;
  // The poller goes before the waker that it watches.
  poller_ = std::move(other.poller_);
  waker_ = std::move(other.waker_);
  table_ = std::move(other.table_);
  stale_keys_ = std::move(other.stale_keys_);
  spare_ = std::move(other.spare_);
  careful_ = other.careful_;
  return *this;  // ready_ is room for the next poll, and either's is as good
}

Reactor::~Reactor() = default;

void Reactor::register_fd(int fd, std::uint64_t token, int interest) {
  add(fd, token, interest, false, "Reactor::register_fd");
}

void Reactor::register_exclusive(int fd, std::uint64_t token, int interest) {
  add(fd, token, interest, !FLARE_MUTANT(kExclusiveDropped), "Reactor::register_exclusive");
}

void Reactor::add(int fd, std::uint64_t token, int interest, bool exclusive, const char* operation) {
  if (token == WAKEUP_TOKEN && !FLARE_MUTANT(kWakeupTokenRegistered)) {
    throw NetworkError(EINVAL, operation, named(fd) + ": the token is WAKEUP_TOKEN, expected any other");
  }
  check_interest(fd, interest, operation);
  if (table_.find(fd) != nullptr) throw NetworkError(EEXIST, operation, named(fd) + " is registered already");
  // The system is asked first, so that a descriptor that it refuses leaves nothing behind and an absurd number never
  // sizes the table.
  const std::uint64_t key = table_.next_key();
  const Status added =
      SystemKernel::poller_add(poller_.get(), fd, key, static_cast<unsigned>(interest), mode_of(exclusive));
  if (!added.ok()) throw NetworkError(added.error, operation, named(fd));
  try {
    table_.insert(fd, token, interest, exclusive);
  } catch (...) {
    static_cast<void>(SystemKernel::poller_remove(poller_.get(), fd).ok());
    throw;
  }
}

void Reactor::modify(int fd, int interest) {
  check_interest(fd, interest, "Reactor::modify");
  Registration* entry = table_.find(fd);
  if (entry == nullptr) throw NetworkError(ENOENT, "Reactor::modify", named(fd) + " is not registered");
  if (entry->exclusive) {
    throw NetworkError(EINVAL, "Reactor::modify", named(fd) + " is registered exclusively, which cannot be modified");
  }
  if (entry->interest == interest) return;
  const Status changed =
      SystemKernel::poller_modify(poller_.get(), fd, table_.key_of(fd), static_cast<unsigned>(interest));
  if (!changed.ok()) throw NetworkError(changed.error, "Reactor::modify", named(fd));
  entry->interest = static_cast<unsigned char>(interest);
}

void Reactor::unregister(int fd) {
  if (table_.find(fd) == nullptr) throw NetworkError(ENOENT, "Reactor::unregister", named(fd) + " is not registered");
  const Status removed = SystemKernel::poller_remove(poller_.get(), fd);
  // EINVAL: the number is this poller's own by now.
  const bool gone = removed.error == EBADF || removed.error == ENOENT || removed.error == EINVAL;
  if ((removed.ok() || gone) && !FLARE_MUTANT(kUnregisterRemembers)) table_.erase(fd);
  if (!removed.ok()) {
    throw NetworkError(removed.error, "Reactor::unregister",
                       named(fd) + (gone ? " was closed before it was unregistered" : ""));
  }
}

bool Reactor::forget(int fd) noexcept {
  if (table_.find(fd) == nullptr) return false;
  if (!may_leave_watches()) static_cast<void>(SystemKernel::poller_remove(poller_.get(), fd).ok());
  table_.erase(fd);
  return true;
}

// A watch that a duplicate keeps alive has the set built anew. So a poller for that is there before the first watch
// is left: without a descriptor it would end every poll at once. And it costs a call for each registration, so whoever
// has met one such watch leaves no more of them.
bool Reactor::may_leave_watches() noexcept {
  if (careful_) return false;
  if (spare_.get() < 0) {
    const Result<int> opened = SystemKernel::poller_open();
    if (opened.ok()) spare_.reset(opened.value());
  }
  return spare_.get() >= 0;
}

int Reactor::poll(int timeout_ms, std::vector<Event>& out, int max_events) {
  if (!FLARE_MUTANT(kEventsKept)) out.clear();
  if (max_events < 1) {
    throw NetworkError(EINVAL, "Reactor::poll", "max_events " + std::to_string(max_events) + ", expected 1 or more");
  }
  const int batch = std::min(max_events, limits::kMaxPollEvents);
  if (ready_.size() < static_cast<std::size_t>(batch)) ready_.resize(static_cast<std::size_t>(batch));
  out.reserve(static_cast<std::size_t>(batch));
  const Result<int> waited = SystemKernel::poller_wait(poller_.get(), ready_.data(), batch,
                                                       std::max(timeout_ms, FLARE_MUTANT(kEndlessWaitSpins) ? 0 : -1));
  if (!waited.ok()) {
    if (waited.error() == EINTR && !FLARE_MUTANT(kInterruptedWaitFails)) return 0;
    throw NetworkError(waited.error(), "Reactor::poll");
  }
  bool stale_again = false;
  for (int i = 0; i < waited.value(); ++i) {
    const ReadyEvent& ready = ready_[static_cast<std::size_t>(i)];
    const RegistrationId id{id_, RegistrationTable::generation_of(ready.key), RegistrationTable::slot_of(ready.key)};
    if (const Registration* entry = table_.current(ready.key)) {
      out.emplace_back(entry->token, ready.bits, id);
    } else if (ready.key == kWakeKey) {
      // Quiet before the caller looks at what the wake was for: a wake after that look ends the next poll.
      if (!FLARE_MUTANT(kWakeNeverCleared) && !FLARE_MUTANT(kWakeClearedAfterLook)) waker_->clear();
      out.emplace_back(WAKEUP_TOKEN, ready.bits, id);
    } else {
      stale_again = fired_before(ready.key) || stale_again;
    }
  }
  if (stale_again) rebuild();
  return static_cast<int>(out.size());
}

// A stale key fires when a descriptor was closed before it was unregistered and a dup of it lives elsewhere. No number
// leads to such an entry any more, so only a new set gets rid of it, or it would end every poll at once.
bool Reactor::fired_before(std::uint64_t stale_key) {
  if (std::find(stale_keys_.begin(), stale_keys_.end(), stale_key) != stale_keys_.end()) return true;
  if (stale_keys_.size() == static_cast<std::size_t>(limits::kStaleKeys)) return true;
  stale_keys_.push_back(stale_key);
  return false;
}

// Whether the number still leads to what was registered (0), asked of the old set by a change that changes nothing. If
// it was closed before it was unregistered (EBADF), and perhaps is another's now (ENOENT), the registration stays
// silent; the caller hears of it when it unregisters.
int Reactor::watched(const Registration& entry, std::uint64_t key) const {
  if (entry.fd == poller_.get()) return ENOENT;
  const int error = SystemKernel::poller_modify(poller_.get(), entry.fd, key, entry.interest).error;
  // What is exclusive refuses any change, so the answer of the other kind is about a registration that was forgotten.
  if (error == EINVAL) return entry.exclusive ? 0 : ENOENT;
  return error == 0 && entry.exclusive ? ENOENT : error;
}

void Reactor::rebuild() {
  careful_ = true;
  UniqueFd fresh;
  try {
    fresh = open_poller(waker_, std::move(spare_));
  } catch (const NetworkError&) {
    return;  // no descriptor or memory for it now: the stale key fires again, and this is tried again
  }
  for (std::size_t slot = 0; slot < table_.slots().size(); ++slot) {
    const Registration& entry = table_.slots()[slot];
    if (entry.fd < 0) continue;
    const std::uint64_t key = RegistrationTable::make_key(entry.generation, static_cast<std::uint32_t>(slot));
    const int known = watched(entry, key);
    if (known == EBADF || known == ENOENT) continue;
    if (known != 0) return;
    const Status added = SystemKernel::poller_add(fresh.get(), entry.fd, key, entry.interest, mode_of(entry.exclusive));
    if (!added.ok()) return;
  }
  poller_ = std::move(fresh);
  stale_keys_.clear();
}

void Reactor::wakeup() const noexcept {
  waker_->wake();
}

int Reactor::wake_fd() const noexcept {
  return waker_->fd();
}

int Reactor::registered_count() const noexcept {
  return static_cast<int>(table_.size());
}

bool Reactor::is_registered(int fd) const noexcept {
  return table_.find(fd) != nullptr;
}

bool Reactor::is_current(const Event& event, int half) const noexcept {
  const RegistrationId& id = event.registration();
  if (id.reactor != id_) return false;
  if (id.slot == RegistrationTable::kNoSlot) return half == INTEREST_READ;
  const Registration* entry = current(id);
  return entry != nullptr && (entry->interest & half) != 0;
}

}  // namespace flare::inline FLARE_ABI
