// flare's reactor as its users run it: each event is asked whether its registration still wants it.
#include "flare/reactor/reactor.h"
#include "shapes.h"

namespace flare::bench {
namespace {

class Flare {
 public:
  void watch(Reader& reader) {
    reactor_.register_fd(reader.fd, reinterpret_cast<std::uint64_t>(&reader), INTEREST_READ);
  }
  void unwatch(Reader& reader) { reactor_.unregister(reader.fd); }
  void turn() {
    reactor_.poll(-1, events_, 1024);
    for (const Event& event : events_) {
      if (event.is_readable() && reactor_.is_current(event, INTEREST_READ))
        reinterpret_cast<Reader*>(event.token())->ready();
    }
  }

 private:
  Reactor reactor_;
  std::vector<Event> events_;
};

}  // namespace

std::vector<Figure> measure(const Stock& stock) {
  return all_shapes<Flare>(stock);
}

}  // namespace flare::bench
