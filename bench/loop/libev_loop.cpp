#include <ev.h>

#include "shapes.h"

namespace flare::bench {
namespace {

class Libev {
 public:
  Libev() { check(loop_ != nullptr, "bench_loop: ev_loop_new"); }
  ~Libev() { ev_loop_destroy(loop_); }
  Libev(const Libev&) = delete;
  Libev& operator=(const Libev&) = delete;

  void watch(Reader& reader) {
    auto* one = new ev_io;
    ev_init(one, [](struct ev_loop*, ev_io* io, int) { static_cast<Reader*>(io->data)->ready(); });
    ev_io_set(one, reader.fd, EV_READ);
    one->data = &reader;
    reader.handle = one;
    ev_io_start(loop_, one);
  }
  void unwatch(Reader& reader) {
    auto* one = static_cast<ev_io*>(reader.handle);
    ev_io_stop(loop_, one);
    delete one;
  }
  void turn() { ev_run(loop_, EVRUN_ONCE); }

 private:
  struct ev_loop* loop_ = ev_loop_new(EVBACKEND_EPOLL);
};

}  // namespace

std::vector<Figure> measure(const Stock& stock) {
  return all_shapes<Libev>(stock);
}

}  // namespace flare::bench
