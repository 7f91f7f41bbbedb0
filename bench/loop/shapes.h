// shapes.h: what bench_loop does with each event loop. A Loop is one library behind three calls:
//
//   watch(Reader&)   calls reader.ready() whenever its descriptor is readable, until unwatch
//   unwatch(Reader&)
//   turn()           waits until something is ready, and calls all that is
//
// Threads: one. Descriptors are made once and shared by all loops, so that all meet the same ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "descriptors.h"

namespace flare::bench {

struct Shape;

// One watched descriptor.
struct Reader {
  int fd = -1;
  std::size_t number = 0;
  Shape* shape = nullptr;
  std::uint64_t slot = 0;  // the loop's own
  void* handle = nullptr;  // the loop's own
  void ready();
};

// What is done when a descriptor is ready.
struct Shape {
  const Pairs* pairs = nullptr;  // null: nothing is read, and it stays ready
  std::vector<Reader> readers;
  std::uint64_t writes_left = 0;
  std::uint64_t events = 0;

  Shape(const std::vector<int>& fds, const Pairs* given) : pairs(given), readers(fds.size()) {
    for (std::size_t i = 0; i < fds.size(); ++i) readers[i] = {fds[i], i, this, 0, nullptr};
  }
};

inline void Reader::ready() {
  ++shape->events;
  if (shape->pairs == nullptr) return;
  read_byte(fd);
  if (shape->writes_left == 0) return;
  --shape->writes_left;
  shape->pairs->write_to((number + 1) % shape->readers.size());
}

struct Figure {
  std::string shape;
  double ns = 0;
};

inline double ns_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

// The shape of libevent's own benchmark: of many descriptors some are active, and each event makes another one ready.
template <class Loop>
double chain(const Pairs& pairs, std::size_t active, std::uint64_t writes, int passes) {
  Shape shape(pairs.ends(), &pairs);
  Loop loop;
  for (Reader& reader : shape.readers) loop.watch(reader);
  double best = 0;
  for (int pass = -1; pass < passes; ++pass) {
    shape.events = 0;
    shape.writes_left = writes;
    const std::uint64_t expected = active + writes;
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < active; ++i) pairs.write_to(i * (shape.readers.size() / active));
    while (shape.events < expected) loop.turn();
    const double ns = ns_since(begin) / static_cast<double>(expected);
    if (pass == 0 || (pass > 0 && ns < best)) best = ns;
  }
  for (Reader& reader : shape.readers) loop.unwatch(reader);
  return best;
}

// Descriptors that are always ready, and a handler that counts.
template <class Loop>
double dispatch(const std::vector<int>& ready, std::uint64_t events, int passes) {
  Shape shape(ready, nullptr);
  Loop loop;
  for (Reader& reader : shape.readers) loop.watch(reader);
  double best = 0;
  for (int pass = -1; pass < passes; ++pass) {
    shape.events = 0;
    const auto begin = std::chrono::steady_clock::now();
    while (shape.events < events) loop.turn();
    const double ns = ns_since(begin) / static_cast<double>(shape.events);
    if (pass == 0 || (pass > 0 && ns < best)) best = ns;
  }
  for (Reader& reader : shape.readers) loop.unwatch(reader);
  return best;
}

// Watches all and forgets all, per descriptor.
template <class Loop>
double registration(const Pairs& pairs, int passes) {
  Shape shape(pairs.ends(), &pairs);
  Loop loop;
  double best = 0;
  for (int pass = -1; pass < passes; ++pass) {
    const auto begin = std::chrono::steady_clock::now();
    for (Reader& reader : shape.readers) loop.watch(reader);
    for (Reader& reader : shape.readers) loop.unwatch(reader);
    const double ns = ns_since(begin) / static_cast<double>(shape.readers.size());
    if (pass == 0 || (pass > 0 && ns < best)) best = ns;
  }
  return best;
}

// The descriptors of all shapes.
struct Stock {
  Pairs hundred{100};
  Pairs thousand{1000};
  Pairs many{5000};
  Ready one{1};
  Ready few{64};
  Ready crowd{1024};
};

template <class Loop>
std::vector<Figure> all_shapes(const Stock& stock) {
  return {
      {"100 descriptors, 1 active", chain<Loop>(stock.hundred, 1, 1000, 7)},
      {"100 descriptors, 64 active", chain<Loop>(stock.hundred, 64, 5000, 7)},
      {"1000 descriptors, 100 active", chain<Loop>(stock.thousand, 100, 5000, 7)},
      {"5000 descriptors, 1 active", chain<Loop>(stock.many, 1, 1000, 7)},
      {"5000 descriptors, 500 active", chain<Loop>(stock.many, 500, 10000, 5)},
      {"dispatch only, 1 ready", dispatch<Loop>(stock.one.fds(), 4000, 7)},
      {"dispatch only, 64 ready", dispatch<Loop>(stock.few.fds(), 100'000, 7)},
      {"dispatch only, 1024 ready", dispatch<Loop>(stock.crowd.fds(), 200'000, 7)},
      {"register and unregister", registration<Loop>(stock.thousand, 7)},
  };
}

// Of the one loop of this program.
std::vector<Figure> measure(const Stock& stock);

}  // namespace flare::bench
