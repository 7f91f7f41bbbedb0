// reactor_fixture.h: a Reactor, and short words for what its tests ask.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "flare/base/network_error.h"
#include "flare/reactor/reactor.h"
#include "support/fault_injection.h"
#include "support/loopback.h"
#include "support/wait_until.h"

namespace flare::testing {

class ReactorTest : public ::testing::Test {
 protected:
  int poll(int timeout_ms = 0, int max_events = limits::kDefaultMaxEvents) {
    return reactor.poll(timeout_ms, events, max_events);
  }
  std::set<std::uint64_t> tokens() const {
    std::set<std::uint64_t> found;
    for (const Event& event : events) found.insert(event.token());
    return found;
  }
  const Event& event_of(std::uint64_t token) const {
    for (const Event& event : events) {
      if (event.token() == token) return event;
    }
    ADD_FAILURE() << "no event with token " << token;
    static constinit const Event none;
    return none;
  }
  // The errno that call throws as NetworkError, 0 when it throws nothing.
  static int error_of(const std::function<void()>& call, std::string* what = nullptr) {
    try {
      call();
    } catch (const NetworkError& error) {
      if (what != nullptr) *what = error.what();
      return error.code().value();
    }
    return 0;
  }

  faults::Scope scope;
  Reactor reactor;
  std::vector<Event> events;
};

}  // namespace flare::testing
