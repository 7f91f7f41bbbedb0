#include "handoff_model.h"

#include <algorithm>
#include <utility>

namespace flare::fuzz {

int HandoffModel::paused_count() const {
  return static_cast<int>(
      std::count_if(workers_.begin(), workers_.end(), [](const Worker& one) { return one.paused; }));
}

std::int64_t HandoffModel::load(int id) const {
  return is_worker(id) ? worker(id).live + static_cast<std::int64_t>(worker(id).queue.size()) : -1;
}

bool HandoffModel::is_any_peer_below_cap(int exclude) const {
  for (int id = 0; id < shape_.workers; ++id) {
    if (id != exclude && below_cap(id) && !worker(id).closed && !worker(id).crashed) return true;
  }
  return false;
}

bool HandoffModel::put(int target, std::int64_t token, bool admitted) {
  Worker& to = worker(target);
  if (to.closed || to.crashed || !has_room(target) || !admitted) {
    ++to.refused;
    return false;
  }
  to.queue.push_back(token);
  ++to.pushes;
  return true;
}

bool HandoffModel::push(int target, std::int64_t token) {
  return shape_.enabled && is_worker(target) && put(target, token, below_cap(target));
}

bool HandoffModel::push_orphan(int target, std::int64_t token) {
  return is_worker(target) && put(target, token, true);
}

std::vector<std::int64_t> HandoffModel::empty(int id) {
  Worker& from = worker(id);
  std::vector<std::int64_t> all(from.queue.begin(), from.queue.end());
  from.pops += all.size();
  from.queue.clear();
  return all;
}

std::vector<std::int64_t> HandoffModel::drain(int id) {
  if (!is_worker(id)) return {};
  std::vector<std::int64_t> all = empty(id);
  if (!all.empty()) ++worker(id).drains;
  if (worker(id).published) worker(id).live += static_cast<std::int64_t>(all.size());
  return all;
}

std::vector<std::int64_t> HandoffModel::close_and_drain(int id) {
  if (!is_worker(id)) return {};
  worker(id).closed = true;
  return empty(id);
}

std::vector<std::int64_t> HandoffModel::take_back(int from, int taker) {
  if (!is_worker(from) || !is_worker(taker) || from == taker) return {};
  std::vector<std::int64_t> all = empty(from);
  if (worker(taker).published) worker(taker).live += static_cast<std::int64_t>(all.size());
  return all;
}

bool HandoffModel::begin_sleep(int id) {
  if (!is_worker(id)) return false;
  Worker& one = worker(id);
  one.asleep = one.queue.empty() && !one.asked;
  one.woken = false;
  return one.asleep;
}

bool HandoffModel::needs_wake(int id) {
  return is_worker(id) && worker(id).asleep && !std::exchange(worker(id).woken, true);
}

bool HandoffModel::request_accept(int id) {
  if (!is_worker(id) || worker(id).closed || worker(id).crashed) return false;
  worker(id).asked = true;
  return true;
}

bool HandoffModel::take_accept_request(int id) {
  return is_worker(id) && std::exchange(worker(id).asked, false);
}

// Awake, and its last sign of life is older than the caller's by more than 100 ms. A caller that has given none takes
// the newest of all.
bool HandoffModel::is_stuck(int id, int caller) const {
  const Worker& one = worker(id);
  if (one.asleep || !one.beats) return false;
  std::int64_t now = worker(caller).heartbeat_ms;
  if (!worker(caller).beats) {
    now = one.heartbeat_ms;
    for (const Worker& other : workers_) now = other.beats ? std::max(now, other.heartbeat_ms) : now;
  }
  return now - one.heartbeat_ms > 100;
}

template <class Fits>
std::set<int> HandoffModel::least_loaded(int exclude, Fits fits) const {
  std::set<int> best;
  if (!is_worker(exclude)) return best;
  for (int id = 0; id < shape_.workers; ++id) {
    if (id == exclude || worker(id).closed || worker(id).crashed || is_stuck(id, exclude) || !fits(id)) continue;
    if (!best.empty() && load(id) > load(*best.begin())) continue;
    if (!best.empty() && load(id) < load(*best.begin())) best.clear();
    best.insert(id);
  }
  return best;
}

std::set<int> HandoffModel::idle_peers(int exclude) const {
  if (!shape_.enabled) return {};
  return least_loaded(exclude, [this](int id) { return has_room(id) && below_cap(id); });
}

std::set<int> HandoffModel::handoff_targets(int local, std::int64_t local_load) const {
  const std::set<int> peers = idle_peers(local);
  const bool worth_it = !peers.empty() && local_load - load(*peers.begin()) >= std::max(shape_.threshold, 1);
  return worth_it ? peers : std::set<int>();
}

std::set<int> HandoffModel::orphan_targets(int exclude) const {
  return least_loaded(exclude, [this](int id) { return has_room(id); });
}

std::set<int> HandoffModel::acceptors(int exclude) const {
  const auto fits = [this](int id) { return below_cap(id) && !worker(id).paused; };
  const std::set<int> asleep = least_loaded(exclude, [&](int id) { return fits(id) && worker(id).asleep; });
  return asleep.empty() ? least_loaded(exclude, fits) : asleep;
}

std::set<int> HandoffModel::paused_peers(int exclude) const {
  std::set<int> peers;
  for (int id = 0; is_worker(exclude) && id < shape_.workers; ++id) {
    if (id != exclude && worker(id).paused && !worker(id).closed && !worker(id).crashed) peers.insert(id);
  }
  return peers;
}

}  // namespace flare::fuzz
