#include <uv.h>

#include "shapes.h"

namespace flare::bench {
namespace {

class Uv {
 public:
  Uv() { check(uv_loop_init(&loop_) == 0, "bench_loop: uv_loop_init"); }
  ~Uv() {
    uv_run(&loop_, UV_RUN_DEFAULT);  // until all handles are closed
    uv_loop_close(&loop_);
  }
  Uv(const Uv&) = delete;
  Uv& operator=(const Uv&) = delete;

  void watch(Reader& reader) {
    auto* poll = new uv_poll_t;
    poll->data = &reader;
    reader.handle = poll;
    check(uv_poll_init(&loop_, poll, reader.fd) == 0, "bench_loop: uv_poll_init");
    uv_poll_start(poll, UV_READABLE, [](uv_poll_t* one, int, int) { static_cast<Reader*>(one->data)->ready(); });
  }
  void unwatch(Reader& reader) {
    auto* poll = static_cast<uv_poll_t*>(reader.handle);
    uv_poll_stop(poll);
    uv_close(reinterpret_cast<uv_handle_t*>(poll), [](uv_handle_t* one) { delete reinterpret_cast<uv_poll_t*>(one); });
  }
  void turn() { uv_run(&loop_, UV_RUN_ONCE); }

 private:
  uv_loop_t loop_{};
};

}  // namespace

std::vector<Figure> measure(const Stock& stock) {
  return all_shapes<Uv>(stock);
}

}  // namespace flare::bench
