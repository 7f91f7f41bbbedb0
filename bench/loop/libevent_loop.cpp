#include <event2/event.h>

#include "shapes.h"

namespace flare::bench {
namespace {

class Libevent {
 public:
  Libevent() { check(base_ != nullptr, "bench_loop: event_base_new"); }
  ~Libevent() { event_base_free(base_); }
  Libevent(const Libevent&) = delete;
  Libevent& operator=(const Libevent&) = delete;

  void watch(Reader& reader) {
    event* one = event_new(
        base_, reader.fd, EV_READ | EV_PERSIST,
        [](evutil_socket_t, short, void* with) { static_cast<Reader*>(with)->ready(); }, &reader);
    reader.handle = one;
    check(one != nullptr && event_add(one, nullptr) == 0, "bench_loop: event_add");
  }
  void unwatch(Reader& reader) { event_free(static_cast<event*>(reader.handle)); }
  void turn() { event_base_loop(base_, EVLOOP_ONCE); }

 private:
  event_base* base_ = event_base_new();
};

}  // namespace

std::vector<Figure> measure(const Stock& stock) {
  return all_shapes<Libevent>(stock);
}

}  // namespace flare::bench
