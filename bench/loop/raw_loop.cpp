// The floor: epoll with a pointer for each descriptor.
#include <sys/epoll.h>

#include "shapes.h"

namespace flare::bench {
namespace {

class Raw {
 public:
  Raw() { check(epoll_ >= 0, "bench_loop: epoll_create1"); }
  ~Raw() { ::close(epoll_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  void watch(Reader& reader) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &reader;
    check(::epoll_ctl(epoll_, EPOLL_CTL_ADD, reader.fd, &event) == 0, "bench_loop: epoll_ctl");
  }
  void unwatch(Reader& reader) {
    check(::epoll_ctl(epoll_, EPOLL_CTL_DEL, reader.fd, nullptr) == 0, "bench_loop: epoll_ctl");
  }
  void turn() {
    const int count = ::epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), -1);
    for (int i = 0; i < count; ++i) static_cast<Reader*>(events_[static_cast<std::size_t>(i)].data.ptr)->ready();
  }

 private:
  int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<epoll_event> events_ = std::vector<epoll_event>(1024);
};

}  // namespace

std::vector<Figure> measure(const Stock& stock) {
  return all_shapes<Raw>(stock);
}

}  // namespace flare::bench
