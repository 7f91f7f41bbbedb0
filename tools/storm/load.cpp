#include "storm/load.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace flare::tools {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSweepEvery = 10 * kMs;
constexpr std::int64_t kRetryAfter = 20 * kMs;  // of a connect that failed
constexpr int kMaxEvents = 512;

}  // namespace

Load::Ns Load::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Load::Load(const StormOptions& options, std::vector<Origin> origins, const volatile std::sig_atomic_t& interrupted,
           std::FILE* stats_file)
    : options_(options),
      interrupted_(interrupted),
      request_(options.request_text()),
      interval_(options.rate > 0 ? 1000 * kMs * options.connections / options.rate : 0),
      clients_(origins.size()),
      random_(static_cast<std::uint64_t>(options.seed)),
      live_stats_(stats_file, options.stats_interval_ms) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  for (std::size_t i = 0; i < origins.size(); ++i) clients_[i].origin = origins[i];
}

Load::~Load() {
  ::close(epoll_);
}

Tally Load::run() {
  const Ns start = now();
  const Ns end = start + options_.duration_ms * kMs;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    clients_[i].due = start + interval_ * static_cast<Ns>(i) / static_cast<Ns>(clients_.size());
    open(i);
  }
  Ns next_sweep = start;
  for (;;) {
    wait_for_events();
    const Ns time = now();
    run_timers(time);
    if (time < next_sweep) continue;
    next_sweep = time + kSweepEvery;
    sweep(time);
    live_stats_.tick(time - start, tally_);
    if (!stopping_ && (time >= end || interrupted_ != 0 || nothing_left())) {
      // The run's own time ends here; answers that are still due are waited for, but add nothing to it.
      tally_.seconds = static_cast<double>(time - start) / 1e9;
      stop();
    }
    if (std::all_of(clients_.begin(), clients_.end(), [](const Client& client) { return client.ended; })) break;
  }
  live_stats_.tick(now() - start, tally_, true);
  if (tally_.seconds == 0) tally_.seconds = static_cast<double>(now() - start) / 1e9;
  return tally_;
}

bool Load::may_send(const Client& client) const {
  if (stopping_) return false;
  if (options_.requests_per_client > 0 && client.sent >= options_.requests_per_client) return false;
  return options_.requests == 0 || static_cast<std::int64_t>(tally_.sent) < options_.requests;
}

// Every request that may be sent was sent and has its end.
bool Load::nothing_left() const {
  if (options_.requests == 0 && options_.requests_per_client == 0) return false;
  return std::none_of(clients_.begin(), clients_.end(), [this](const Client& client) {
    return !client.ended && (client.connection.outstanding() || may_send(client));
  });
}

void Load::wait_for_events() {
  epoll_event events[kMaxEvents];
  Ns wait = kSweepEvery;
  if (!timers_.empty()) wait = std::clamp<Ns>(timers_.top().when - now(), 0, kSweepEvery);
  const timespec limit{0, wait};
  const int count = ::epoll_pwait2(epoll_, events, kMaxEvents, &limit, nullptr);
  if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "epoll_pwait2");
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(events[i].data.u64);
    Client& client = clients_[index];
    // An event of a socket that this batch has replaced is for nobody: the new one is level-triggered and comes again.
    if (client.ended || client.armed == 0) continue;
    dispatch(index, client.connection.on_ready((events[i].events & EPOLLOUT) != 0));
  }
}

void Load::open(std::size_t index) {
  Client& client = clients_[index];
  ++tally_.opened;
  client.armed = 0;
  client.opened_at = now();
  client.deadline = client.opened_at + options_.timeout_ms * kMs;
  const auto event = client.connection.open(options_.target, {client.origin.port, options_.mode == Mode::kSlow});
  if (event == Connection::Event::kEnded) return ended(index);
  set_interest(index);
}

void Load::resume(std::size_t index) {
  Client& client = clients_[index];
  if (stopping_) return end_locally(index, Ending::kLocal);
  const bool open_now = client.connection.is_open();
  if (!may_send(client)) {
    if (!open_now) client.ended = true;
    if (open_now && options_.leave) end_locally(index, Ending::kLocal);
    return;  // else it stays connected until the others are done
  }
  if (interval_ > 0 && client.due > now()) return arm_timer(index, client.due);
  if (open_now) return begin(index);
  open(index);
}

void Load::begin(std::size_t index) {
  Client& client = clients_[index];
  const Ns time = now();
  client.intended = interval_ > 0 ? client.due : options_.mode == Mode::kPerRequest ? client.opened_at : time;
  client.due += interval_;
  client.deadline = time + options_.timeout_ms * kMs;
  ++client.sent;
  ++tally_.sent;
  const bool slow = options_.mode == Mode::kSlow;
  const auto budget = slow ? static_cast<std::size_t>(options_.slow_bytes) : Connection::kAll;
  const auto event = client.connection.send(request_, budget);
  if (options_.mode == Mode::kReset) {
    client.reset_plan = static_cast<int>(random_() % 3);
    if (client.reset_plan == 0) return end_locally(index, Ending::kLocal);
    if (client.reset_plan == 1) arm_timer(index, time + static_cast<Ns>(random_() % (2 * kMs)));
  }
  if (slow) arm_timer(index, time + options_.slow_step_ms * kMs);
  dispatch(index, event);
}

void Load::dispatch(std::size_t index, Connection::Event event) {
  switch (event) {
    case Connection::Event::kNothing:
      return set_interest(index);
    case Connection::Event::kConnected:
      ++tally_.connected;
      set_interest(index);
      return resume(index);
    case Connection::Event::kAnswered:
      return answered(index);
    case Connection::Event::kEnded:
      return ended(index);
  }
}

void Load::answered(std::size_t index) {
  Client& client = clients_[index];
  const ResponseReader& reader = client.connection.reader();
  const Ns time = now();
  ++tally_.answered;
  ++tally_.statuses[reader.status()];
  if (reader.status() / 100 == 2) ++tally_.ok;
  const auto latency = static_cast<std::uint64_t>(std::max<Ns>(0, time - client.intended));
  tally_.latency_ns.record(latency);
  live_stats_.answered(latency);
  if (client.connection.answered() == 1) {
    tally_.place(reader.accepted_by(), reader.worker(), client.origin.wanted_worker);
  }
  client.deadline = time + options_.timeout_ms * kMs;
  set_interest(index);
  if (options_.mode == Mode::kReset) return end_locally(index, Ending::kLocal);
  // The server has said that it closes: its end of stream comes next, and is the proof.
  if (reader.close_announced()) return;
  resume(index);
}

void Load::end_locally(std::size_t index, Ending ending) {
  clients_[index].connection.end(ending, options_.mode == Mode::kReset);
  ended(index);
}

void Load::ended(std::size_t index) {
  Client& client = clients_[index];
  const Ending ending = client.connection.ending();
  ++tally_.endings[static_cast<std::size_t>(ending)];
  if (ending == Ending::kConnectFailed) ++tally_.connect_errors[client.connection.error()];
  client.armed = 0;
  ++client.timer;
  const bool failed = ending == Ending::kRefused || ending == Ending::kConnectFailed;
  const bool again =
      options_.mode == Mode::kPerRequest || options_.mode == Mode::kReset ? ending != Ending::kRefused : false;
  if (stopping_ || !may_send(client) || !(again || options_.reconnect)) {
    client.ended = true;
    return;
  }
  // Never at once: one client that is refused must not keep the loop from the others.
  arm_timer(index, std::max(client.due * (interval_ > 0 ? 1 : 0), now() + (failed ? kRetryAfter : 0)));
}

void Load::on_timer(std::size_t index) {
  Client& client = clients_[index];
  if (!client.connection.is_open()) return resume(index);
  if (!client.connection.outstanding()) {
    // A slow client looks for the end of its stream at its own pace, too.
    if (options_.mode == Mode::kSlow) {
      arm_timer(index, now() + options_.slow_step_ms * kMs);
      if (client.connection.answered() > 0 && client.connection.reader().close_announced()) {
        return dispatch(index, client.connection.on_ready(false, static_cast<std::size_t>(options_.slow_bytes)));
      }
    }
    return resume(index);
  }
  if (options_.mode == Mode::kReset) return end_locally(index, Ending::kLocal);
  if (options_.mode != Mode::kSlow) return;
  arm_timer(index, now() + options_.slow_step_ms * kMs);
  dispatch(index, client.connection.on_ready(true, static_cast<std::size_t>(options_.slow_bytes)));
}

void Load::run_timers(Ns time) {
  while (!timers_.empty() && timers_.top().when <= time) {
    const Timer timer = timers_.top();
    timers_.pop();
    const Client& client = clients_[timer.client];
    if (!client.ended && client.timer == timer.number) on_timer(timer.client);
  }
}

// What takes too long: a connect, an answer, or the close that the server has announced.
void Load::sweep(Ns time) {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const Client& client = clients_[i];
    if (client.ended || !client.connection.is_open() || time < client.deadline) continue;
    const Connection& connection = client.connection;
    const bool closing = connection.answered() > 0 && connection.reader().close_announced();
    if (connection.connecting() || connection.outstanding() || closing) end_locally(i, Ending::kTimeout);
  }
}

void Load::stop() {
  stopping_ = true;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    if (client.ended) continue;
    if (!client.connection.is_open()) {
      client.ended = true;
    } else if (!client.connection.outstanding()) {
      end_locally(i, Ending::kLocal);
    }
  }
}

void Load::arm_timer(std::size_t index, Ns when) {
  timers_.push({when, index, ++clients_[index].timer});
}

// Slow clients leave the epoll set once connected: readiness says nothing to who reads by the clock.
void Load::set_interest(std::size_t index) {
  Client& client = clients_[index];
  const Connection& connection = client.connection;
  const bool by_clock = options_.mode == Mode::kSlow && !connection.connecting();
  const unsigned wanted = by_clock ? 0 : EPOLLIN | (connection.wants_write() ? EPOLLOUT : 0U);
  if (wanted == client.armed) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = index;
  const int operation = client.armed == 0 ? EPOLL_CTL_ADD : wanted == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_, operation, connection.fd(), &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
  client.armed = wanted;
}

}  // namespace flare::tools
