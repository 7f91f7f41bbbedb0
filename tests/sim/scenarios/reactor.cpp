#include "scenarios/reactor.h"

#include <array>

#include "flare/base/network_error.h"
#include "flare/base/unique_fd.h"
#include "flare/kernel/system_kernel.h"
#include "flare/net/listener.h"
#include "flare/reactor/reactor.h"
#include "scenarios/waiting.h"

namespace flare::sim {

namespace {

Scenario reactor_scenario(std::string name, std::function<void()> body) {
  return server_scenario("reactor." + std::move(name), {}, std::move(body));
}

UniqueFd event_source() {
  return UniqueFd(SystemKernel::wake_open().value());
}

template <class Call>
bool throws(Call call) {
  try {
    call();
    return false;
  } catch (const NetworkError&) {
    return true;
  }
}

}  // namespace

Scenario reactor_rules() {
  return reactor_scenario("rules", [] {
    Reactor reactor;
    std::vector<Event> events;
    UniqueFd source = event_source();
    require(throws([&] { reactor.register_fd(source.get(), WAKEUP_TOKEN, INTEREST_READ); }), "reactor",
            "the token of wakes is a user's");
    reactor.register_fd(source.get(), 7, INTEREST_READ);
    static_cast<void>(SystemKernel::wake_signal(source.get()));
    require(reactor.poll(-1, events) == 1 && events.front().token() == 7, "reactor", "the event did not come");
    static_cast<void>(SystemKernel::wake_clear(source.get()));
    require(reactor.poll(0, events) == 0 && events.empty(), "reactor", "an event came that was over");
    reactor.wakeup();
    require(reactor.poll(-1, events) == 1 && events.front().is_wakeup(), "reactor", "the wake did not come");
    require(reactor.poll(0, events) == 0, "reactor", "the wake came twice");
    const int number = source.get();
    reactor.unregister(number);
    source.reset();
    source = event_source();
    require(source.get() == number && !reactor.is_registered(number) && reactor.registered_count() == 0, "reactor",
            "a descriptor is still registered");
    reactor.register_fd(number, 8, INTEREST_READ);
    Actor later("later", [&reactor] { reactor.wakeup(); });
    require(reactor.poll(-1, events) == 1, "reactor", "an endless wait ended without an event");
    later.join();
    reactor.unregister(number);
  });
}

Scenario reactor_reuse_in_batch() {
  return reactor_scenario("reuse-in-batch", [] {
    Reactor reactor;
    std::vector<Event> events;
    std::array<UniqueFd, 2> sources = {event_source(), event_source()};
    for (std::uint64_t i = 0; i < 2; ++i) {
      reactor.register_fd(sources[i].get(), i, INTEREST_READ);
      static_cast<void>(SystemKernel::wake_signal(sources[i].get()));
    }
    require(reactor.poll(-1, events) == 2, "reactor", "two events are no batch");
    // The first one's handler closes the other one and opens something new.
    UniqueFd& other = sources[1 - events.front().token()];
    const int number = other.get();
    reactor.unregister(number);
    other.reset();
    other = event_source();
    require(other.get() == number, "reactor", "the number was not used again");
    reactor.register_fd(number, 9, INTEREST_READ);
    require(reactor.is_current(events.front()), "reactor", "an event of a live registration is stale");
    require(!reactor.is_current(events.back()), "reactor", "an event reaches the successor of its registration");
    for (const UniqueFd& one : sources) reactor.unregister(one.get());
  });
}

Scenario reactor_exclusive() {
  return reactor_scenario("exclusive", [] {
    ListenerOptions options;
    const Shared<Listener> listener = bind_shared(SocketAddress::loopback_v4(), options);
    Atomic<int> woken{0};
    {
      std::array<Shared<Waker>, 2> wakers = {share<Waker>(), share<Waker>()};
      std::vector<std::unique_ptr<Actor>> watchers;
      for (const Shared<Waker>& waker : wakers) {
        watchers.push_back(std::make_unique<Actor>(Name("watcher"), [&listener, &woken, waker] {
          Reactor reactor(waker);
          reactor.register_exclusive(listener->fd(), 1, INTEREST_READ);
          std::vector<Event> events;
          bool over = false;
          while (!over) {
            reactor.poll(-1, events);
            for (const Event& event : events) over = over || event.is_wakeup();
            if (over || events.empty()) continue;
            woken.fetch_add(1);
            reactor.unregister(listener->fd());
          }
          if (reactor.is_registered(listener->fd())) reactor.unregister(listener->fd());
        }));
      }
      settle();
      const Client client(listener->address());
      settle();
      require(woken.load() == 1, "herd", "one client did not wake exactly one");
      for (const Shared<Waker>& waker : wakers) waker->wake();
    }
    require(woken.load() == 1, "herd", "one client woke several");
  });
}

Scenario reactor_interrupted() {
  return reactor_scenario("interrupted", [] {
    Reactor reactor;
    std::vector<Event> events;
    reactor.wakeup();
    settings().faults = true;
    bool failed = false;
    int got = 0;
    for (int i = 0; i < 2 && got == 0; ++i) {
      failed = failed || throws([&] { got = reactor.poll(-1, events); });
    }
    settings().faults = false;
    require(!failed, "reactor", "a wait that a signal ended is a failure");
    require(got == 1, "reactor", "a wake was lost to a signal");
  });
}

}  // namespace flare::sim
