// asio waits once for each descriptor and must be asked again: that is its interface.
#include <asio.hpp>

#include "shapes.h"

namespace flare::bench {
namespace {

class Asio {
 public:
  void watch(Reader& reader) {
    auto* one = new asio::posix::stream_descriptor(context_, reader.fd);
    reader.handle = one;
    ask(*one, reader);
  }
  void unwatch(Reader& reader) {
    auto* one = static_cast<asio::posix::stream_descriptor*>(reader.handle);
    one->release();
    delete one;
    context_.poll_one();  // what was cancelled
  }
  void turn() { context_.run_one(); }

 private:
  void ask(asio::posix::stream_descriptor& one, Reader& reader) {
    one.async_wait(asio::posix::stream_descriptor::wait_read, [this, &one, &reader](const asio::error_code& error) {
      if (error) return;
      reader.ready();
      ask(one, reader);
    });
  }
  asio::io_context context_{1};
};

}  // namespace

std::vector<Figure> measure(const Stock& stock) {
  return all_shapes<Asio>(stock);
}

}  // namespace flare::bench
